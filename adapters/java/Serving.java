import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.api.gax.rpc.ApiException;
import java.io.IOException;
import java.util.List;

/**
 * What every client of Google's libraries in Java is beside its reads: the answer to hello, and the classes of errors.
 * {@link Lines} speaks the protocol.
 */
final class Serving {
  static final ObjectMapper JSON = Lines.JSON;

  private Serving() {}

  /** The answer to hello; the version is that in the name of the jar that contains {@code loaded}. */
  static ObjectNode about(String name, String artifact, Class<?> loaded, List<String> paths) {
    ObjectNode made = JSON.createObjectNode();
    String jar = loaded.getProtectionDomain().getCodeSource().getLocation().getPath();
    String version = jar.replaceAll(".*/" + artifact + "-(.*)\\.jar", "$1");
    made.put("protocol", 1).put("implementation", name).put("language", "Java");
    made.put("title", "com.google.cloud:" + artifact).put("version", version);
    made.putArray("reads");
    made.putArray("writes");
    ArrayNode listed = made.putArray("paths");
    paths.forEach(listed::add);
    return made;
  }

  /** Answers requests until standard input ends. */
  static void serve(ObjectNode about, Lines.Fetch fetch) throws IOException {
    Lines.serve(about, fetch, Serving::naming);
  }

  private static String naming(Throwable thrown) {
    if (thrown instanceof ApiException api) {
      return api.getStatusCode().getCode().toString();
    }
    String name = thrown.getClass().getName();
    return thrown instanceof Error ? "panic: " + name : name;
  }
}
