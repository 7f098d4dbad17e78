import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/** Reads the stream of the server in FLIGHT as users of flight-core do; with `exchange`, by DoExchange. */
public final class Client {
  public static void main(String[] arguments) {
    Thread watch = new Thread(Client::end);
    watch.setDaemon(true);
    watch.start();
    String[] address = System.getenv("FLIGHT").split(":");
    BufferAllocator allocator = new RootAllocator();
    Location server = Location.forGrpcInsecure(address[0], Integer.parseInt(address[1]));
    try {
      FlightClient client = FlightClient.builder(allocator, server).build();
      FlightStream stream;
      if (arguments.length > 0) {
        FlightClient.ExchangeReaderWriter both =
            client.doExchange(FlightDescriptor.path("table"), CallOptions.timeout(10, TimeUnit.SECONDS));
        both.getWriter().completed();
        stream = both.getReader();
      } else {
        stream = client.getStream(new Ticket("ticket".getBytes()), CallOptions.timeout(10, TimeUnit.SECONDS));
      }
      VectorSchemaRoot root = stream.getRoot();
      List<String> found = new ArrayList<>();
      while (stream.next()) {
        for (int row = 0; row < root.getRowCount(); row++) {
          found.add(String.valueOf(root.getVector("s").getObject(row)));
        }
      }
      System.out.println(found);
    } catch (Exception error) {
      System.out.println("error: " + error.getMessage());
    }
    System.exit(0);
  }

  /** Says so if the program goes on long after the deadline of its call. */
  private static void end() {
    try {
      Thread.sleep(25_000);
    } catch (InterruptedException error) {
      return;
    }
    System.out.println("still waiting, long after the deadline of the call");
    Runtime.getRuntime().halt(1);
  }
}
