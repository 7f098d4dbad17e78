import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;

/**
 * Arrow Java as a serializer: MessageSerializer, which Java servers of the Storage Read API can use.
 *
 * <p>It answers the suite's line protocol, which conformance/targets/protocol.schema.json describes. Java runs this
 * file from source, with the jars on its class path; Arrow's memory needs --add-opens=java.base/java.nio=ALL-UNNAMED.
 */
public final class Serializer {
  /** By default Jackson refuses a string of more than 20 MB, and a table may have 100 MiB. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
              .build());

  private Serializer() {}

  private static ObjectNode hello() {
    ObjectNode made = JSON.createObjectNode();
    made.put("protocol", 1).put("name", "Arrow Java").put("version", version()).put("input", "arrow");
    made.putArray("capabilities").add("arrow");
    return made.put("status", "ok");
  }

  /** The version in the name of the jar that contains the library's classes. */
  private static String version() {
    String jar = MessageSerializer.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll(".*arrow-vector-(.*)\\.jar", "$1");
  }

  private static ObjectNode serialized(byte[] table) throws IOException {
    ObjectNode made = JSON.createObjectNode().put("status", "ok");
    try (BufferAllocator allocator = new RootAllocator();
        ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(table), allocator)) {
      VectorSchemaRoot root = reader.getVectorSchemaRoot();
      ByteArrayOutputStream schema = new ByteArrayOutputStream();
      MessageSerializer.serialize(new WriteChannel(Channels.newChannel(schema)), root.getSchema());
      made.put("schema", Base64.getEncoder().encodeToString(schema.toByteArray()));
      ArrayNode batches = made.putArray("batches");
      while (reader.loadNextBatch()) {
        ByteArrayOutputStream batch = new ByteArrayOutputStream();
        try (ArrowRecordBatch unloaded = new VectorUnloader(root).getRecordBatch()) {
          MessageSerializer.serialize(new WriteChannel(Channels.newChannel(batch)), unloaded);
        }
        batches.add(Base64.getEncoder().encodeToString(batch.toByteArray()));
      }
    }
    return made;
  }

  private static ObjectNode answer(JsonNode request) throws IOException {
    if (request.path("op").asText().equals("hello")) {
      return hello();
    }
    for (JsonNode need : request.path("needs")) {
      if (!need.asText().equals("arrow")) {
        return JSON.createObjectNode().put("status", "unsupported");
      }
    }
    return serialized(Base64.getDecoder().decode(request.path("arrow").asText()));
  }

  /** Answers requests until standard input ends. What the library throws is the answer to its request. */
  public static void main(String[] arguments) throws IOException {
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      JsonNode request = JSON.readTree(line);
      ObjectNode made;
      try {
        made = answer(request);
      } catch (Throwable thrown) {
        made = JSON.createObjectNode().put("status", "error").put("message", thrown.toString());
      }
      made.set("id", request.get("id"));
      answers.print(JSON.writeValueAsString(made) + "\n");
      answers.flush();
    }
  }
}
