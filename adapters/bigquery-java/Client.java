import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.api.gax.core.NoCredentialsProvider;
import com.google.cloud.bigquery.storage.v1.BigQueryReadClient;
import com.google.cloud.bigquery.storage.v1.BigQueryReadSettings;
import com.google.cloud.bigquery.storage.v1.CreateReadSessionRequest;
import com.google.cloud.bigquery.storage.v1.DataFormat;
import com.google.cloud.bigquery.storage.v1.ReadRowsRequest;
import com.google.cloud.bigquery.storage.v1.ReadRowsResponse;
import com.google.cloud.bigquery.storage.v1.ReadSession;
import com.google.cloud.bigquery.storage.v1.ReadStream;
import io.grpc.ManagedChannelBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
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
 * <p>Built by {@code python -m adapters bigquery-java}; {@link Serving} speaks the protocol. The client gives bytes; the
 * two paths are the two ways in which Java programs decode them with Apache Arrow.
 */
public final class Client {
  private Client() {}

  /** A table under construction: the schema once, then the values of each batch. */
  private static final class Table {
    private final ObjectNode answer = Serving.JSON.createObjectNode();
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

  /** Answers requests until standard input ends. */
  public static void main(String[] arguments) throws IOException {
    List<String> paths = List.of("messages", "joined");
    Serving.serve(
        Serving.about("bigquery-java", "google-cloud-bigquerystorage", BigQueryReadClient.class, paths), Client::fetch);
  }
}
