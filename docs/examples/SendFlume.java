/* SendFlume.java - sends two events with the RpcClient of Apache Flume (org.apache.flume:flume-ng-sdk).
 *
 *     java -cp 'jars/*' SendFlume.java 4141 */
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.flume.Event;
import org.apache.flume.EventDeliveryException;
import org.apache.flume.api.RpcClient;
import org.apache.flume.api.RpcClientFactory;
import org.apache.flume.event.EventBuilder;

public class SendFlume {
    public static void main(String[] arguments) throws EventDeliveryException {
        Properties properties = new Properties();
        properties.setProperty("client.type", "thrift"); /* the default speaks Avro */
        properties.setProperty("hosts", "leat");
        properties.setProperty("hosts.leat", "127.0.0.1:" + (arguments.length > 0 ? arguments[0] : "4141"));

        RpcClient client = RpcClientFactory.getInstance(properties);
        try {
            client.appendBatch(List.of(event("hello"), event("from Java"))); /* throws: send again */
            System.out.println("answer: OK");
        } finally {
            client.close();
        }
    }

    static Event event(String body) {
        return EventBuilder.withBody(body, StandardCharsets.UTF_8, Map.of("app", "demo"));
    }
}
