import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.api.gax.core.NoCredentialsProvider;
import com.google.api.gax.rpc.ApiException;
import com.google.cloud.bigquery.storage.v1.BigQueryReadClient;
import com.google.cloud.bigquery.storage.v1.BigQueryReadSettings;
import com.google.cloud.bigquery.storage.v1.CreateReadSessionRequest;
import com.google.cloud.bigquery.storage.v1.DataFormat;
import com.google.cloud.bigquery.storage.v1.ReadRowsRequest;
import com.google.cloud.bigquery.storage.v1.ReadRowsResponse;
import com.google.cloud.bigquery.storage.v1.ReadSession;
import com.google.cloud.bigquery.storage.v1.ReadStream;
import io.grpc.ManagedChannelBuilder;
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
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Client of com.google.cloud:google-cloud-bigquerystorage: reads tables of a server on loopback for the suite.
 *
 * <p>Built by {@code python -m adapters bigquery-java}. Standard input has one JSON request per line, standard output
 * one JSON answer per line; anything that a library prints goes to standard error. The client gives bytes; the two paths
 * are the two ways in which Java programs decode them with Apache Arrow. An {@link Error} becomes an answer whose class
 * begins with "panic:".
 */
public final class Client {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Client() {}

  /** A table under construction: the schema once, then the values of each batch. */
  private static final class Table {
    private final ObjectNode answer = JSON.createObjectNode();
    private final List<ArrayNode> columns = new ArrayList<>();
    private final Plain plain = new Plain(new MapDictionaryProvider());
    private long rows;

    Table(Schema schema) {
      ArrayNode names = answer.putArray("names");
      ArrayNode types = answer.putArray("types");
      ArrayNode values = answer.putArray("columns");
      for (Field field : schema.getFields()) {
        names.add(field.getName() == null ? "" : field.getName());
        types.add(field.getType().toString());
        columns.add(values.addArray());
      }
    }

    void add(VectorSchemaRoot root) {
      rows += root.getRowCount();
      for (int c = 0; c < columns.size(); c++) {
        FieldVector vector = root.getVector(c);
        plain.spend(root.getRowCount());
        for (int row = 0; row < root.getRowCount(); row++) {
          columns.get(c).add(plain.of(vector, row));
        }
      }
    }

    ObjectNode done() {
      return answer.put("rows", rows);
    }
  }

  private static BigQueryReadClient client(String endpoint) throws IOException {
    BigQueryReadSettings.Builder settings = BigQueryReadSettings.newBuilder();
    settings.setCredentialsProvider(NoCredentialsProvider.create()).setEndpoint(endpoint);
    settings.setTransportChannelProvider(
        BigQueryReadSettings.defaultGrpcTransportProviderBuilder()
            .setChannelConfigurator(ManagedChannelBuilder::usePlaintext)
            .build());
    return BigQueryReadClient.create(settings.build());
  }

  private static ReadSession session(BigQueryReadClient client, JsonNode asked) {
    ReadSession.TableReadOptions.Builder options = ReadSession.TableReadOptions.newBuilder();
    asked.path("columns").forEach(column -> options.addSelectedFields(column.asText()));
    options.setRowRestriction(asked.path("restriction").asText());
    String table = asked.path("table").asText();
    ReadSession wanted =
        ReadSession.newBuilder().setTable(table).setDataFormat(DataFormat.ARROW).setReadOptions(options).build();
    String parent = table.substring(0, table.indexOf("/datasets/"));
    return client.createReadSession(
        CreateReadSessionRequest.newBuilder().setParent(parent).setReadSession(wanted).build());
  }

  /** The bytes of every batch, stream by stream. */
  private static List<byte[]> batches(BigQueryReadClient client, ReadSession session) {
    List<byte[]> found = new ArrayList<>();
    for (ReadStream stream : session.getStreamsList()) {
      ReadRowsRequest request = ReadRowsRequest.newBuilder().setReadStream(stream.getName()).build();
      for (ReadRowsResponse response : client.readRowsCallable().call(request)) {
        found.add(response.getArrowRecordBatch().getSerializedRecordBatch().toByteArray());
      }
    }
    return found;
  }

  private static ReadChannel channel(byte[] data) {
    return new ReadChannel(Channels.newChannel(new ByteArrayInputStream(data)));
  }

  private static ObjectNode messages(byte[] schemaBytes, List<byte[]> batches, BufferAllocator allocator)
      throws IOException {
    Schema schema = MessageSerializer.deserializeSchema(channel(schemaBytes));
    Table table = new Table(schema);
    try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator)) {
      VectorLoader loader = new VectorLoader(root, CommonsCompressionFactory.INSTANCE);
      for (byte[] data : batches) {
        try (ArrowRecordBatch batch = MessageSerializer.deserializeRecordBatch(channel(data), allocator)) {
          loader.load(batch);
          table.add(root);
        }
      }
    }
    return table.done();
  }

  private static ObjectNode joined(byte[] schemaBytes, List<byte[]> batches, BufferAllocator allocator)
      throws IOException {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    stream.write(schemaBytes);
    for (byte[] data : batches) {
      stream.write(data);
    }
    ByteArrayInputStream bytes = new ByteArrayInputStream(stream.toByteArray());
    try (ArrowStreamReader reader = new ArrowStreamReader(bytes, allocator, CommonsCompressionFactory.INSTANCE)) {
      VectorSchemaRoot root = reader.getVectorSchemaRoot();
      Table table = new Table(root.getSchema());
      while (reader.loadNextBatch()) {
        table.add(root);
      }
      return table.done();
    }
  }

  private static ObjectNode fetch(JsonNode asked) throws IOException {
    String path = asked.path("path").asText();
    if (!path.equals("messages") && !path.equals("joined")) {
      throw new UnsupportedOperationException("there is no path " + path);
    }
    // One allocator per request: memory that a failed read does not release must not count against the next request.
    BufferAllocator allocator = new RootAllocator();
    try (BigQueryReadClient client = client(asked.path("grpc").asText())) {
      ReadSession session = session(client, asked);
      List<byte[]> batches = batches(client, session);
      byte[] schema = session.getArrowSchema().getSerializedSchema().toByteArray();
      return path.equals("joined") ? joined(schema, batches, allocator) : messages(schema, batches, allocator);
    } finally {
      try {
        allocator.close();
      } catch (IllegalStateException leaked) {
        System.err.println("request " + asked.path("id") + ": " + leaked.getMessage().lines().findFirst().orElse(""));
      }
    }
  }

  private static ObjectNode hello() {
    ObjectNode made = JSON.createObjectNode();
    made.put("protocol", 1).put("implementation", "bigquery-java").put("language", "Java");
    made.put("title", "com.google.cloud:google-cloud-bigquerystorage").put("version", version());
    made.putArray("reads");
    made.putArray("writes");
    made.putArray("paths").add("messages").add("joined");
    return made;
  }

  /** The version in the name of the jar that contains the client's classes. */
  private static String version() {
    String jar = BigQueryReadClient.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll(".*google-cloud-bigquerystorage-(.*)\\.jar", "$1");
  }

  private static ObjectNode failure(Throwable thrown) {
    ObjectNode made = JSON.createObjectNode();
    String name = thrown.getClass().getName();
    if (thrown instanceof UnsupportedOperationException) {
      return made.put("status", "unsupported").put("message", String.valueOf(thrown.getMessage()));
    }
    made.put("status", "error").put("message", String.valueOf(thrown.getMessage()));
    if (thrown instanceof ApiException api) {
      return made.put("class", api.getStatusCode().getCode().toString());
    }
    return thrown instanceof Error ? made.put("class", "panic: " + name).put("panicked", true) : made.put("class", name);
  }

  private static String respond(String line) throws IOException {
    JsonNode id = null;
    try {
      JsonNode request = JSON.readTree(line);
      id = request.get("id");
      ObjectNode made = request.path("op").asText().equals("hello") ? hello() : fetch(request);
      made.put("status", "ok").set("id", id);
      return JSON.writeValueAsString(made);
    } catch (Throwable thrown) {
      ObjectNode made = failure(thrown);
      made.set("id", id);
      return JSON.writeValueAsString(made);
    }
  }

  /** Answers requests until standard input ends. */
  public static void main(String[] arguments) throws IOException {
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      if (!line.isBlank()) {
        answers.print(respond(line) + "\n");
        answers.flush();
      }
    }
  }
}
