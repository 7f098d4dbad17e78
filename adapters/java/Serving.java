import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.api.gax.rpc.ApiException;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What every client in Java is beside its reads: lines in, lines out, and the answers of errors.
 *
 * <p>Standard input has one JSON request per line, standard output one JSON answer per line; anything that a library
 * prints goes to standard error. An {@link Error} becomes an answer whose class begins with "panic:". A path that throws
 * {@link UnsupportedOperationException} has no way to do what was asked.
 */
final class Serving {
  static final ObjectMapper JSON = new ObjectMapper();

  private Serving() {}

  /** Reads the table of a request by the path that it names. */
  interface Fetch {
    ObjectNode of(JsonNode asked) throws Exception;
  }

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
  static void serve(ObjectNode about, Fetch fetch) throws IOException {
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      if (!line.isBlank()) {
        answers.print(respond(line, about, fetch) + "\n");
        answers.flush();
      }
    }
  }

  private static String respond(String line, ObjectNode about, Fetch fetch) throws IOException {
    JsonNode id = null;
    try {
      JsonNode request = JSON.readTree(line);
      id = request.get("id");
      ObjectNode made = request.path("op").asText().equals("hello") ? about.deepCopy() : fetch.of(request);
      made.put("status", "ok").set("id", id);
      return JSON.writeValueAsString(made);
    } catch (Throwable thrown) {
      ObjectNode made = failure(thrown);
      made.set("id", id);
      return JSON.writeValueAsString(made);
    }
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
}
