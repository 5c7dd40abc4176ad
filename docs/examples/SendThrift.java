/* SendThrift.java - sends two events with the code that Thrift generates for Java (org.apache.thrift:libthrift).
 *
 *     thrift --gen java flume.thrift
 *     javac -cp 'jars/*' -d classes gen-java/org/apache/flume/thrift/*.java SendThrift.java
 *     java -cp 'classes:jars/*' SendThrift 4141 */
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.flume.thrift.Status;
import org.apache.flume.thrift.ThriftFlumeEvent;
import org.apache.flume.thrift.ThriftSourceProtocol;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.layered.TFramedTransport;

public class SendThrift {
    static final int TIMEOUT_MS = 20000;

    public static void main(String[] arguments) throws TException {
        int port = Integer.parseInt(arguments.length > 0 ? arguments[0] : "4141");
        TSocket socket = new TSocket(new TConfiguration(), "127.0.0.1", port, TIMEOUT_MS);

        try (TTransport transport = new TFramedTransport(socket)) {
            transport.open();
            ThriftSourceProtocol.Client client = new ThriftSourceProtocol.Client(new TCompactProtocol(transport));
            Status answer = client.appendBatch(List.of(event("hello"), event("from Java")));
            System.out.println("answer: " + answer); /* on another answer than OK, or an exception, send again */
        }
    }

    static ThriftFlumeEvent event(String body) {
        return new ThriftFlumeEvent(Map.of("app", "demo"), ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8)));
    }
}
