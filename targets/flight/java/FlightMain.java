import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.ActionType;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.Criteria;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightEndpoint;
import org.apache.arrow.flight.FlightInfo;
import org.apache.arrow.flight.FlightServer;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.Result;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorLoader;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A Flight server on Apache Arrow Java, as the Arrow cookbook writes one, with the tables in memory.
 *
 * <p>https://arrow.apache.org/cookbook/java/flight.html: acceptPut stores a table under the path of its descriptor, and
 * the path is also the ticket. Every other method is that of NoOpFlightProducer. Findings are about Arrow Java unless
 * they are about the lines below. Arrow's memory needs --add-opens=java.base/java.nio=ALL-UNNAMED.
 */
public final class FlightMain extends NoOpFlightProducer {
  private final BufferAllocator allocator;
  private final ConcurrentMap<String, Table> tables = new ConcurrentSkipListMap<>();

  private FlightMain(BufferAllocator allocator) {
    this.allocator = allocator;
  }

  private record Table(FlightDescriptor descriptor, Schema schema, List<ArrowRecordBatch> batches, long rows) {}

  private static String ticketOf(FlightDescriptor descriptor) {
    if (descriptor == null || descriptor.isCommand() || descriptor.getPath().isEmpty()) {
      throw CallStatus.INVALID_ARGUMENT.withDescription("a flight is named by a path").toRuntimeException();
    }
    return String.join("\0", descriptor.getPath());
  }

  private Table table(String ticket) {
    Table found = tables.get(ticket);
    if (found == null) {
      throw CallStatus.NOT_FOUND.withDescription("there is no table " + ticket).toRuntimeException();
    }
    return found;
  }

  private FlightInfo info(String ticket) {
    Table found = table(ticket);
    FlightEndpoint endpoint = new FlightEndpoint(new Ticket(ticket.getBytes(StandardCharsets.UTF_8)));
    return new FlightInfo(found.schema(), found.descriptor(), List.of(endpoint), -1, found.rows());
  }

  @Override
  public FlightInfo getFlightInfo(CallContext context, FlightDescriptor descriptor) {
    return info(ticketOf(descriptor));
  }

  @Override
  public void listFlights(CallContext context, Criteria criteria, StreamListener<FlightInfo> listener) {
    String prefix = new String(criteria.getExpression(), StandardCharsets.UTF_8);
    tables.keySet().stream().filter(ticket -> ticket.startsWith(prefix)).forEach(ticket -> listener.onNext(info(ticket)));
    listener.onCompleted();
  }

  @Override
  public Runnable acceptPut(CallContext context, FlightStream stream, StreamListener<PutResult> answers) {
    return () -> {
      List<ArrowRecordBatch> batches = new ArrayList<>();
      long rows = 0;
      String ticket = ticketOf(stream.getDescriptor());
      while (stream.next()) {
        VectorUnloader unloader = new VectorUnloader(stream.getRoot());
        batches.add(unloader.getRecordBatch());
        rows += stream.getRoot().getRowCount();
      }
      if (!stream.getDictionaryProvider().getDictionaryIds().isEmpty()) {
        batches.forEach(ArrowRecordBatch::close);
        throw CallStatus.UNIMPLEMENTED.withDescription("dictionaries are not stored").toRuntimeException();
      }
      tables.put(ticket, new Table(stream.getDescriptor(), stream.getSchema(), batches, rows));
      answers.onCompleted();
    };
  }

  @Override
  public void getStream(CallContext context, Ticket ticket, ServerStreamListener listener) {
    Table found = table(new String(ticket.getBytes(), StandardCharsets.UTF_8));
    try (VectorSchemaRoot root = VectorSchemaRoot.create(found.schema(), allocator)) {
      VectorLoader loader = new VectorLoader(root);
      listener.start(root, new DictionaryProvider.MapDictionaryProvider());
      for (ArrowRecordBatch batch : found.batches()) {
        loader.load(batch);
        listener.putNext();
      }
      listener.completed();
    }
  }

  @Override
  public void doExchange(CallContext context, FlightStream stream, ServerStreamListener listener) {
    FlightDescriptor descriptor = stream.getDescriptor();
    if (!descriptor.isCommand() || !new String(descriptor.getCommand(), StandardCharsets.UTF_8).equals("echo")) {
      throw CallStatus.NOT_FOUND.withDescription("there is no exchange but echo").toRuntimeException();
    }
    boolean begun = false;
    while (stream.next()) {
      ArrowBuf metadata = stream.getLatestMetadata();
      if (metadata != null) {
        metadata.getReferenceManager().retain(); // the listener gives up what it sends
      }
      if (!stream.hasRoot()) {
        listener.putMetadata(metadata);
        continue;
      }
      if (!begun) {
        listener.start(stream.getRoot(), stream.getDictionaryProvider());
        begun = true;
      }
      listener.putNext(metadata);
    }
    if (!begun && stream.hasRoot()) {
      listener.start(stream.getRoot(), stream.getDictionaryProvider());
    }
    listener.completed();
  }

  @Override
  public void doAction(CallContext context, Action action, StreamListener<Result> listener) {
    if (!action.getType().equals("drop_dataset")) {
      throw CallStatus.UNIMPLEMENTED.withDescription("there is no action " + action.getType()).toRuntimeException();
    }
    String ticket = StandardCharsets.UTF_8.decode(ByteBuffer.wrap(action.getBody())).toString();
    table(ticket);
    tables.remove(ticket);
    listener.onCompleted();
  }

  @Override
  public void listActions(CallContext context, StreamListener<ActionType> listener) {
    listener.onNext(new ActionType("drop_dataset", "Remove the table whose ticket is the body."));
    listener.onCompleted();
  }

  public static void main(String[] arguments) throws Exception {
    BufferAllocator allocator = new RootAllocator();
    Location location = Location.forGrpcInsecure(arguments[0], 0);
    FlightServer server = FlightServer.builder(allocator, location, new FlightMain(allocator)).build().start();
    System.out.println("{\"event\": \"grpc.listen\", \"port\": " + server.getPort() + "}");
    server.awaitTermination();
  }
}
