import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.compression.CompressionUtil.CodecType;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.dictionary.DictionaryProvider.MapDictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.ArrowWriter;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.SeekableReadChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.MetadataVersion;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel;

/**
 * Adapter of Apache Arrow Java: reads and writes IPC streams, files and single messages for the suite.
 *
 * <p>Built by {@code python -m adapters arrow-java} with the Arrow jars in pyspark; started with
 * {@code --add-opens=java.base/java.nio=ALL-UNNAMED}, which Arrow's memory needs. Standard input has one JSON request
 * per line, standard output one JSON answer per line. Only answers go to standard output: anything that a library
 * prints goes to standard error. An {@link Error} becomes an answer whose class begins with "panic:".
 */
public final class Adapter {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, CodecType> CODECS =
      Map.of("", CodecType.NO_COMPRESSION, "lz4", CodecType.LZ4_FRAME, "zstd", CodecType.ZSTD);

  /** The current step of a request, while it is not the library's own reader or writer. */
  private static String stage = "";

  private Adapter() {}

  /** A table under construction: the schema once, then the values of each batch. */
  private static final class Table {
    private final ObjectNode answer = JSON.createObjectNode();
    private final List<ArrayNode> columns = new ArrayList<>();
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

    void add(VectorSchemaRoot root, DictionaryProvider dictionaries) {
      stage = "values";
      Plain plain = new Plain(dictionaries);
      rows += root.getRowCount();
      for (int c = 0; c < columns.size(); c++) {
        FieldVector vector = root.getVector(c);
        plain.spend(root.getRowCount());
        for (int row = 0; row < root.getRowCount(); row++) {
          columns.get(c).add(plain.of(vector, row));
        }
      }
      stage = "";
    }

    ObjectNode done(Ways ways) {
      ArrayNode differences = ways.differences();
      if (differences != null) {
        answer.set("ways", differences);
      }
      return answer.put("rows", rows);
    }
  }

  private static ObjectNode hello() throws IOException {
    ObjectNode made = JSON.createObjectNode();
    made.put("protocol", 1).put("implementation", "arrow-java").put("title", "Apache Arrow Java");
    made.put("language", "Java").put("version", version());
    made.putArray("reads").add("stream").add("file").add("message");
    made.putArray("writes").add("stream").add("file");
    ArrayNode after = made.putObject("read_options").putArray("after");
    Ways.AFTER.forEach(after::add);
    ObjectNode options = made.putObject("write_options");
    options.putArray("codec").add("").add("lz4").add("zstd");
    options.putArray("legacy").add(false).add(true);
    options.putArray("version").add("V5").add("V4");
    options.putArray("given").add("").add("sliced");
    return made;
  }

  /** The version in the name of the jar that contains the library's classes. */
  private static String version() {
    String jar = ArrowReader.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll(".*arrow-vector-(.*)\\.jar", "$1");
  }

  /** Throws for every option that the library's interface does not have. */
  private static void onlyOptions(JsonNode options, Set<String> known) {
    for (Iterator<String> names = options.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!known.contains(name)) {
        throw new UnsupportedOperationException("there is no option " + name);
      }
    }
  }

  private static ArrowReader reader(String kind, byte[] data, BufferAllocator allocator) {
    switch (kind) {
      case "stream":
        return new ArrowStreamReader(new ByteArrayInputStream(data), allocator, CommonsCompressionFactory.INSTANCE);
      case "file":
        SeekableReadChannel channel = new SeekableReadChannel(new ByteArrayReadableSeekableByteChannel(data));
        return new ArrowFileReader(channel, allocator, CommonsCompressionFactory.INSTANCE);
      default:
        throw new UnsupportedOperationException("cannot read kind " + kind);
    }
  }

  private static ReadChannel channel(byte[] data) {
    return new ReadChannel(Channels.newChannel(new ByteArrayInputStream(data)));
  }

  private static ObjectNode readMessage(byte[] schemaBytes, byte[] data, Ways ways, BufferAllocator allocator)
      throws IOException {
    Schema schema = MessageSerializer.deserializeSchema(channel(schemaBytes));
    try (VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator);
        ArrowRecordBatch batch = MessageSerializer.deserializeRecordBatch(channel(data), allocator)) {
      new VectorLoader(root, CommonsCompressionFactory.INSTANCE).load(batch);
      Table table = new Table(schema);
      DictionaryProvider none = new MapDictionaryProvider();
      table.add(root, none);
      stage = "values";
      ways.look(root, none, table.columns, 0);
      return table.done(ways);
    }
  }

  private static ObjectNode read(JsonNode request, byte[] data, BufferAllocator allocator) throws IOException {
    JsonNode options = request.path("options");
    onlyOptions(options, Set.of("after"));
    Ways ways = new Ways(options.path("after").asText(""), allocator);
    String kind = request.path("kind").asText();
    if (kind.equals("message")) {
      return readMessage(Base64.getDecoder().decode(request.path("schema").asText()), data, ways, allocator);
    }
    Table table;
    try (ArrowReader reader = reader(kind, data, allocator)) {
      VectorSchemaRoot root = reader.getVectorSchemaRoot();
      table = new Table(root.getSchema());
      while (reader.loadNextBatch()) {
        table.add(root, reader);
      }
    }
    if (ways.isAsked()) {
      stage = "values";
      // What is done with the rows of one batch can spoil the next: the rows of the answer come from a reader of their own.
      try (ArrowReader again = reader(kind, data, allocator)) {
        ways.look(again, table.columns);
      }
    }
    return table.done(ways);
  }

  private static ObjectNode write(JsonNode request, byte[] data, BufferAllocator allocator) throws IOException {
    JsonNode options = request.path("options");
    onlyOptions(options, Set.of("codec", "legacy", "version", "given"));
    CodecType codec = CODECS.get(options.path("codec").asText(""));
    if (codec == null) {
      throw new UnsupportedOperationException("there is no codec " + options.path("codec"));
    }
    boolean sliced = options.path("given").asText("").equals("sliced");
    MetadataVersion version = MetadataVersion.valueOf(options.path("version").asText("V5"));
    IpcOption option = new IpcOption(options.path("legacy").asBoolean(false), version);
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    stage = "source";
    try (ArrowReader reader = reader("stream", data, allocator)) {
      VectorSchemaRoot whole = reader.getVectorSchemaRoot();
      // The first batch is loaded before the start: it brings the dictionaries, which a writer sends when it starts.
      boolean more = reader.loadNextBatch();
      stage = "";
      try (VectorSchemaRoot root = sliced ? Pieces.of(whole) : whole;
          ArrowWriter writer = writer(request.path("kind").asText(), root, reader, written, option, codec)) {
        writer.start();
        while (more) {
          if (root instanceof Pieces pieces) {
            pieces.write(writer);
          } else {
            writer.writeBatch();
          }
          stage = "source";
          more = reader.loadNextBatch();
          stage = "";
        }
        writer.end();
      }
    }
    String encoded = Base64.getEncoder().encodeToString(written.toByteArray());
    return JSON.createObjectNode().put("data", encoded);
  }

  /** The root of a writer of slices: it has the schema of the first slice, and the vectors of the one written next. */
  private static final class Pieces extends VectorSchemaRoot {
    private final VectorSchemaRoot whole;
    private VectorSchemaRoot piece;

    private Pieces(VectorSchemaRoot whole, VectorSchemaRoot first) {
      super(first.getSchema(), first.getFieldVectors(), first.getRowCount());
      this.whole = whole;
      piece = first;
    }

    static Pieces of(VectorSchemaRoot whole) {
      return new Pieces(whole, whole.slice(0, whole.getRowCount() / 2));
    }

    @Override
    public List<FieldVector> getFieldVectors() {
      return piece.getFieldVectors();
    }

    @Override
    public int getRowCount() {
      return piece.getRowCount();
    }

    /** Writes the two halves of the current batch, and the slice without rows behind its last one. */
    void write(ArrowWriter writer) throws IOException {
      int rows = whole.getRowCount();
      int middle = rows / 2;
      for (int[] bounds : new int[][] {{0, middle}, {middle, rows - middle}, {rows, 0}}) {
        piece = whole.slice(bounds[0], bounds[1]);
        try {
          writer.writeBatch();
        } finally {
          // A slice of all rows is the batch itself, which the reader fills again.
          if (piece != whole) {
            piece.close();
          }
        }
      }
    }
  }

  private static ArrowWriter writer(
      String kind,
      VectorSchemaRoot root,
      DictionaryProvider dictionaries,
      ByteArrayOutputStream to,
      IpcOption option,
      CodecType codec)
      throws IOException {
    var channel = Channels.newChannel(to);
    var factory =
        codec == CodecType.NO_COMPRESSION ? NoCompressionCodec.Factory.INSTANCE : CommonsCompressionFactory.INSTANCE;
    switch (kind) {
      case "stream":
        return new ArrowStreamWriter(root, dictionaries, channel, option, factory, codec);
      case "file":
        return new ArrowFileWriter(root, dictionaries, channel, Map.of(), option, factory, codec);
      default:
        throw new UnsupportedOperationException("cannot write kind " + kind);
    }
  }

  private static ObjectNode answer(JsonNode request) throws IOException {
    byte[] data = Base64.getDecoder().decode(request.path("data").asText());
    // One allocator per request: memory that a failed read does not release must not count against the next request.
    BufferAllocator allocator = new RootAllocator();
    try {
      switch (request.path("op").asText()) {
        case "hello":
          return hello();
        case "read":
          return read(request, data, allocator);
        case "write":
          return write(request, data, allocator);
        default:
          throw new UnsupportedOperationException("there is no operation " + request.path("op"));
      }
    } finally {
      try {
        allocator.close();
      } catch (IllegalStateException leaked) {
        System.err.println("request " + request.path("id") + ": " + leaked.getMessage().lines().findFirst().orElse(""));
      }
    }
  }

  /** True if the library reports a missing feature; for decimals, and unions before V5, only the text says so. */
  private static boolean lacking(Throwable thrown) {
    String message = String.valueOf(thrown.getMessage());
    return thrown instanceof UnsupportedOperationException
        || message.startsWith("Library only supports")
        || message.matches("(?s)Cannot (read|write) union with V4.*");
  }

  private static ObjectNode failure(Throwable thrown) {
    ObjectNode made = JSON.createObjectNode();
    String name = thrown.getClass().getName();
    if (lacking(thrown)) {
      String message = thrown.getMessage() == null ? name : thrown.getMessage();
      return made.put("status", "unsupported").put("message", message);
    }
    made.put("status", "error").put("message", String.valueOf(thrown.getMessage()));
    if (!stage.isEmpty()) {
      made.put("stage", stage);
    }
    return thrown instanceof Error ? made.put("class", "panic: " + name).put("panicked", true) : made.put("class", name);
  }

  private static String respond(String line) throws IOException {
    JsonNode id = null;
    stage = "";
    try {
      JsonNode request = JSON.readTree(line);
      id = request.get("id");
      ObjectNode made = answer(request);
      made.put("status", "ok").set("id", id);
      // Inside the try: values nested too deeply for the JSON writer give an error answer and do not end the program.
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
