/* FlumeSender.java - sends numbered events with the RpcClient of Apache Flume, one by one and in batches.
 *
 * Arguments: PORT PROTOCOL EVENTS. So many single appends, then as many in batches of 1000. */
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.flume.Event;
import org.apache.flume.api.RpcClient;
import org.apache.flume.api.RpcClientFactory;
import org.apache.flume.event.EventBuilder;

public class FlumeSender {
    /* Every second body is no UTF-8. */
    static Event event(String kind, int number) {
        Map<String, String> headers = new HashMap<>();
        headers.put("kind", kind);
        headers.put("number", Integer.toString(number));
        headers.put("text", "Gr\u00fc\u00dfe, \u4e16\u754c \"quoted\" \\ \t \ud83d\ude80");
        headers.put("empty", "");

        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes((kind + " " + number).getBytes(StandardCharsets.UTF_8));
        if (number % 2 == 1)
            body.writeBytes(new byte[] {0, (byte) 0xff, '\n', (byte) 0x80});
        return EventBuilder.withBody(body.toByteArray(), headers);
    }

    public static void main(String[] arguments) throws Exception {
        Properties properties = new Properties();
        properties.setProperty("client.type", "thrift");
        properties.setProperty("hosts", "leat");
        properties.setProperty("hosts.leat", "127.0.0.1:" + arguments[0]);
        properties.setProperty("protocol", arguments[1]);
        properties.setProperty("batch-size", "1000");
        int nEvents = Integer.parseInt(arguments[2]);

        RpcClient client = RpcClientFactory.getInstance(properties);
        for (int i = 0; i < nEvents; i++)
            client.append(event("single", i));
        List<Event> batch = new ArrayList<>();
        for (int i = 0; i < nEvents; i++)
            batch.add(event("batch", i));
        client.appendBatch(batch);
        client.close();
    }
}
