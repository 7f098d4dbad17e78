import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.ActionType;
import org.apache.arrow.flight.CallOption;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.Criteria;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightEndpoint;
import org.apache.arrow.flight.FlightInfo;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.PollInfo;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.Result;
import org.apache.arrow.flight.SyncPutListener;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.flight.auth.ClientAuthHandler;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * Flight client of Apache Arrow Java: makes the calls of one path against a server of the suite, and gives back what came.
 *
 * <p>Built by {@code python -m adapters flight-java}; {@link Lines} speaks the protocol. Each path is one way in which a
 * program can read with the library; nothing is repaired.
 */
public final class Client {
  private static final CallOption DEADLINE = CallOptions.timeout(10, TimeUnit.SECONDS);
  private static final Schema UPLOADED =
      new Schema(List.of(Field.nullable("number", new org.apache.arrow.vector.types.pojo.ArrowType.Int(64, true))));

  private Client() {}

  /** Makes the calls of one path. */
  private interface Path {
    void of(FlightClient client, JsonNode asked, Table made) throws Exception;
  }

  private static final Map<String, Path> PATHS =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("next", Client::next),
              Map.entry("metadata", Client::metadata),
              Map.entry("flight", Client::wholeFlight),
              Map.entry("poll", Client::poll),
              Map.entry("put", Client::put),
              Map.entry("exchange", Client::exchange),
              Map.entry("exchange-metadata", Client::exchangeMetadata),
              Map.entry("action", Client::action),
              Map.entry("list-flights", Client::listFlights),
              Map.entry("list-actions", Client::listActions),
              Map.entry("schema", Client::schema),
              Map.entry("handshake", Client::handshake)));

  /** An answer under construction, column by column. */
  private static final class Table {
    private final ObjectNode answer = Lines.JSON.createObjectNode();
    private final ArrayNode names = answer.putArray("names");
    private final ArrayNode types = answer.putArray("types");
    private final ArrayNode values = answer.putArray("columns");
    private final List<ArrayNode> columns = new ArrayList<>();
    private long rows;

    void name(String name, String type) {
      names.add(name == null ? "" : name);
      types.add(type);
      columns.add(values.addArray());
    }

    void schema(Schema schema) {
      if (columns.isEmpty()) {
        schema.getFields().forEach(field -> name(field.getName(), field.getType().toString()));
      }
    }

    void add(VectorSchemaRoot root, Plain plain) {
      rows += root.getRowCount();
      for (int c = 0; c < columns.size(); c++) {
        FieldVector vector = root.getVector(c);
        plain.spend(root.getRowCount());
        for (int row = 0; row < root.getRowCount(); row++) {
          columns.get(c).add(plain.of(vector, row));
        }
      }
    }

    void text(String value) {
      rows++;
      columns.get(0).add(value);
    }

    void bytes(byte[] value) {
      rows++;
      columns.get(0).addObject().put("hex", HexFormat.of().formatHex(value));
    }

    ObjectNode done() {
      return answer.put("rows", rows);
    }
  }

  private static byte[] bytesOf(ArrowBuf buffer) {
    byte[] found = new byte[(int) buffer.readableBytes()];
    buffer.getBytes(buffer.readerIndex(), found);
    return found;
  }

  private static FlightDescriptor descriptor(JsonNode asked) {
    return FlightDescriptor.path(asked.path("name").asText());
  }

  private static FlightStream stream(FlightClient client, JsonNode asked) {
    return client.getStream(new Ticket(asked.path("name").asText().getBytes(StandardCharsets.UTF_8)), DEADLINE);
  }

  /** Adds every batch of a stream. */
  private static void drain(FlightStream stream, Table made) {
    made.schema(stream.getSchema());
    while (stream.next()) {
      if (stream.hasRoot()) {
        made.add(stream.getRoot(), new Plain(stream.getDictionaryProvider()));
      }
    }
  }

  private static void drainMetadata(FlightStream stream, Table made) {
    made.name("app_metadata", "Binary");
    while (stream.next()) {
      ArrowBuf held = stream.getLatestMetadata();
      if (held != null && held.readableBytes() > 0) {
        made.bytes(bytesOf(held));
      }
    }
  }

  private static void next(FlightClient client, JsonNode asked, Table made) throws Exception {
    try (FlightStream stream = stream(client, asked)) {
      drain(stream, made);
    }
  }

  private static void metadata(FlightClient client, JsonNode asked, Table made) throws Exception {
    try (FlightStream stream = stream(client, asked)) {
      drainMetadata(stream, made);
    }
  }

  /** Adds the data of an endpoint at the first of its locations that can be used. */
  private static void redeem(FlightClient client, FlightEndpoint endpoint, Table made) throws Exception {
    List<Location> locations = endpoint.getLocations();
    Exception last = null;
    for (Location location : locations.isEmpty() ? List.of(Location.reuseConnection()) : locations) {
      URI uri = location.getUri();
      boolean here = location.equals(Location.reuseConnection()) || uri.toString().isEmpty();
      try (BufferAllocator own = new RootAllocator();
          FlightClient other = here ? null : FlightClient.builder(own, location).build();
          FlightStream stream = (here ? client : other).getStream(endpoint.getTicket(), DEADLINE)) {
        drain(stream, made);
        return;
      } catch (FlightRuntimeException | IllegalArgumentException error) {
        last = error;
        if (here) {
          throw error;
        }
      }
    }
    throw last;
  }

  private static void endpoints(FlightClient client, FlightInfo info, Table made) throws Exception {
    for (FlightEndpoint endpoint : info.getEndpoints()) {
      redeem(client, endpoint, made);
    }
  }

  private static void wholeFlight(FlightClient client, JsonNode asked, Table made) throws Exception {
    endpoints(client, client.getInfo(descriptor(asked), DEADLINE), made);
  }

  private static void poll(FlightClient client, JsonNode asked, Table made) throws Exception {
    PollInfo polled = client.pollInfo(descriptor(asked), DEADLINE);
    while (polled.getFlightDescriptor().isPresent()) {
      polled = client.pollInfo(polled.getFlightDescriptor().get(), DEADLINE);
    }
    endpoints(client, polled.getFlightInfo(), made);
  }

  /** Writes one batch, and says that nothing follows. */
  private static void upload(FlightClient.ClientStreamListener writer, VectorSchemaRoot root) {
    BigIntVector numbers = (BigIntVector) root.getVector(0);
    for (int row = 0; row < 3; row++) {
      numbers.setSafe(row, row + 1);
    }
    root.setRowCount(3);
    writer.putNext();
    writer.completed();
  }

  private static void put(FlightClient client, JsonNode asked, Table made) throws Exception {
    made.name("app_metadata", "Binary");
    try (BufferAllocator own = new RootAllocator();
        VectorSchemaRoot root = VectorSchemaRoot.create(UPLOADED, own);
        SyncPutListener results = new SyncPutListener()) {
      FlightClient.ClientStreamListener writer = client.startPut(descriptor(asked), root, results, DEADLINE);
      upload(writer, root);
      for (PutResult one = results.read(); one != null; one = results.read()) {
        try (PutResult held = one) {
          ArrowBuf metadata = held.getApplicationMetadata();
          made.bytes(metadata == null ? new byte[0] : bytesOf(metadata));
        }
      }
      writer.getResult();
    }
  }

  private static void exchanged(FlightClient client, JsonNode asked, Table made, boolean data) throws Exception {
    try (BufferAllocator own = new RootAllocator();
        VectorSchemaRoot root = VectorSchemaRoot.create(UPLOADED, own);
        FlightClient.ExchangeReaderWriter both = client.doExchange(descriptor(asked), DEADLINE)) {
      both.getWriter().start(root);
      upload(both.getWriter(), root);
      if (data) {
        drain(both.getReader(), made);
      } else {
        drainMetadata(both.getReader(), made);
      }
    }
  }

  private static void exchange(FlightClient client, JsonNode asked, Table made) throws Exception {
    exchanged(client, asked, made, true);
  }

  private static void exchangeMetadata(FlightClient client, JsonNode asked, Table made) throws Exception {
    exchanged(client, asked, made, false);
  }

  private static void action(FlightClient client, JsonNode asked, Table made) {
    made.name("body", "Binary");
    for (Iterator<Result> found = client.doAction(new Action(asked.path("name").asText()), DEADLINE); found.hasNext(); ) {
      made.bytes(found.next().getBody());
    }
  }

  private static void listFlights(FlightClient client, JsonNode asked, Table made) {
    made.name("path", "Utf8");
    for (FlightInfo one : client.listFlights(Criteria.ALL, DEADLINE)) {
      made.text(String.join("/", one.getDescriptor().getPath()));
    }
  }

  private static void listActions(FlightClient client, JsonNode asked, Table made) {
    made.name("type", "Utf8");
    for (ActionType one : client.listActions(DEADLINE)) {
      made.text(one.getType());
    }
  }

  private static void schema(FlightClient client, JsonNode asked, Table made) {
    made.name("name", "Utf8");
    client.getSchema(descriptor(asked), DEADLINE).getSchema().getFields().forEach(field -> made.text(field.getName()));
  }

  private static void handshake(FlightClient client, JsonNode asked, Table made) {
    made.name("token", "Binary");
    client.authenticate(
        new ClientAuthHandler() {
          private byte[] token = new byte[0];

          @Override
          public void authenticate(ClientAuthSender outgoing, Iterator<byte[]> incoming) {
            outgoing.send("password".getBytes(StandardCharsets.UTF_8));
            token = incoming.next();
            made.bytes(token);
          }

          @Override
          public byte[] getCallToken() {
            return token;
          }
        },
        DEADLINE);
  }

  private static ObjectNode fetch(JsonNode asked) throws Exception {
    Table made = new Table();
    try (BufferAllocator allocator = new RootAllocator();
        FlightClient client = FlightClient.builder(allocator, new Location("grpc+tcp://" + asked.path("grpc").asText())).build()) {
      PATHS.get(asked.path("path").asText()).of(client, asked, made);
    }
    return made.done();
  }

  private static String naming(Throwable thrown) {
    return thrown instanceof FlightRuntimeException known ? known.status().code().name() : thrown.getClass().getName();
  }

  public static void main(String[] arguments) throws Exception {
    ObjectNode about = Lines.JSON.createObjectNode();
    String jar = FlightClient.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    about.put("protocol", 1).put("implementation", "flight-java").put("language", "Java");
    about.put("title", "org.apache.arrow:flight-core").put("version", jar.replaceAll(".*/flight-core-(.*)\\.jar", "$1"));
    about.putArray("reads");
    about.putArray("writes");
    ArrayNode listed = about.putArray("paths");
    PATHS.keySet().forEach(listed::add);
    Lines.serve(about, Client::fetch, Client::naming);
  }
}
