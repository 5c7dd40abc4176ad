// consume.js - prints the bodies of so many messages that nsqjs finds through a registry: consume.js LOOKUPD TOPIC N
const nsq = require('nsqjs')

const [lookupd, topic, n] = process.argv.slice(2)
let left = Number(n)
const reader = new nsq.Reader(topic, 'archive', { lookupdHTTPAddresses: lookupd, lookupdPollInterval: 1 })
reader.on('message', (message) => {
  console.log(message.body.toString())
  message.finish()
  if (--left === 0) setTimeout(() => process.exit(0), 200)
})
reader.connect()
