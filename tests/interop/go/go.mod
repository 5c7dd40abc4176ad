// The programs of NSQ that leat-registry must get along with, as its own module pins what they are built from.
module interop

go 1.17

require github.com/nsqio/nsq v1.3.0

replace github.com/judwhite/go-svc => github.com/mreiferson/go-svc v1.2.2-0.20210815184239-7a96e00010f6
