/* RocketDriver.java - RocketMQ's admin tool, producer and consumer, told on stdin what to do.
 *
 * A line is words with tabs between them: "admin" and the words of an mqadmin command, "send" TOPIC COUNT,
 * or "receive" TOPIC COUNT. What is said in answer ends with a line "done". Argument: the name servers of
 * the producer and the consumer. One JVM for all, since each takes seconds to start. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.tools.command.MQAdminStartup;

public class RocketDriver {
    static String send(String servers, String topic, int count) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("driver_send");
        producer.setNamesrvAddr(servers);
        producer.start();
        try {
            int sent = 0;
            for (int i = 0; i < count; i++)
                if (producer.send(new Message(topic, ("message " + i).getBytes(StandardCharsets.UTF_8))) != null)
                    sent++;
            return "sent " + sent;
        } finally {
            producer.shutdown();
        }
    }

    static String receive(String servers, String topic, int count) throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        CountDownLatch all = new CountDownLatch(1);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("driver_receive_" + topic);
        consumer.setNamesrvAddr(servers);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages)
                seen.add(new String(message.getBody(), StandardCharsets.UTF_8));
            if (seen.size() >= count)
                all.countDown();
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        try {
            all.await(90, TimeUnit.SECONDS);
            return "received " + seen.size();
        } finally {
            consumer.shutdown();
        }
    }

    static void obey(String servers, String[] words) throws Exception {
        if (words[0].equals("admin"))
            MQAdminStartup.main0(Arrays.copyOfRange(words, 1, words.length), null);
        else if (words[0].equals("send"))
            System.out.println(send(servers, words[1], Integer.parseInt(words[2])));
        else
            System.out.println(receive(servers, words[1], Integer.parseInt(words[2])));
    }

    public static void main(String[] arguments) throws Exception {
        System.setErr(System.out);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            try {
                obey(arguments[0], line.split("\t"));
            } catch (Exception error) {
                System.out.println("failed: " + error);
            }
            System.out.println("done");
        }
        System.exit(0);
    }
}
