import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.auth.oauth2.AccessToken;
import com.google.auth.oauth2.GoogleCredentials;
import com.google.cloud.bigquery.BigQuery;
import com.google.cloud.bigquery.BigQueryOptions;
import com.google.cloud.bigquery.BigQueryResult;
import com.google.cloud.bigquery.Connection;
import com.google.cloud.bigquery.ConnectionSettings;
import com.google.cloud.bigquery.Field;
import com.google.cloud.bigquery.FieldList;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.sql.ResultSet;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.util.Text;

/**
 * Client of com.google.cloud:google-cloud-bigquery: queries whole tables of a server on loopback for the suite.
 *
 * <p>Built by {@code python -m adapters bigquery-java-connection}; {@link Serving} speaks the protocol. The library reads
 * the result of {@code Connection.executeSelect} through the Storage API if {@code useReadAPI} is true, the result has
 * more rows than {@code minResultSize}, and no column is an INTERVAL. It makes the client of that API by itself, without
 * an option for its endpoint (ConnectionImpl.highThroughPutRead), so that client goes through the suite's proxy.
 */
public final class Client {
  private static final LocalDateTime EPOCH = LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC);

  /** Of a store of certificates, which are public. */
  private static final String SECRET = "conformance";

  /** The authority that the virtual machine trusts now. */
  private static String trusted = "";

  private Client() {}

  /** Lets connections of this virtual machine go through the proxy and trust the authority in the file. */
  private static void through(String proxy, String authority) throws IOException, GeneralSecurityException {
    System.setProperty("https.proxyHost", URI.create(proxy).getHost());
    System.setProperty("https.proxyPort", String.valueOf(URI.create(proxy).getPort()));
    if (authority.equals(trusted)) {
      return;
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (InputStream file = Files.newInputStream(Path.of(authority))) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    Path written = Files.createTempFile("client-trust", ".p12");
    written.toFile().deleteOnExit();
    try (OutputStream file = Files.newOutputStream(written)) {
      store.store(file, SECRET.toCharArray());
    }
    System.setProperty("javax.net.ssl.trustStore", written.toString());
    System.setProperty("javax.net.ssl.trustStorePassword", SECRET);
    trusted = authority;
  }

  private static BigQuery service(String project, String rest) {
    AccessToken token = new AccessToken("none", Date.from(Instant.now().plus(1, ChronoUnit.DAYS)));
    return BigQueryOptions.newBuilder()
        .setProjectId(project)
        .setHost(rest)
        .setCredentials(GoogleCredentials.create(token))
        .build()
        .getService();
  }

  private static ObjectNode fetch(JsonNode asked) throws Exception {
    if (!asked.path("columns").isEmpty() || !asked.path("restriction").asText().isEmpty()) {
      throw new UnsupportedOperationException("this path reads whole tables");
    }
    through(asked.path("proxy").asText(), asked.path("ca").asText());
    String[] name = asked.path("table").asText().split("/");
    // By default, the library lists 200,000 rows or fewer over REST.
    ConnectionSettings settings = ConnectionSettings.newBuilder().setUseReadAPI(true).setMinResultSize(0).build();
    Connection connection = service(name[1], asked.path("rest").asText()).createConnection(settings);
    try {
      return table(connection.executeSelect(String.format("SELECT * FROM `%s.%s.%s`", name[1], name[3], name[5])));
    } finally {
      connection.close();
    }
  }

  private static ObjectNode table(BigQueryResult<?> result) throws Exception {
    ObjectNode answer = Serving.JSON.createObjectNode();
    FieldList fields = result.getSchema().getFields();
    ArrayNode names = answer.putArray("names");
    ArrayNode types = answer.putArray("types");
    ArrayNode values = answer.putArray("columns");
    List<ArrayNode> columns = new ArrayList<>();
    for (Field field : fields) {
      names.add(field.getName());
      types.add(field.getType().getStandardType().name());
      columns.add(values.addArray());
    }
    ResultSet found = result.getResultSet();
    long rows = 0;
    for (; found.next(); rows++) {
      for (int c = 0; c < fields.size(); c++) {
        columns.get(c).add(plain(fields.get(c), found.getObject(fields.get(c).getName())));
      }
    }
    return answer.put("rows", rows);
  }

  /** A value of getObject, in which the library hands out those of Arrow's own getObject. */
  private static JsonNode plain(Field field, Object value) {
    if (value instanceof Boolean truth) {
      return Serving.JSON.getNodeFactory().booleanNode(truth);
    } else if (value instanceof Long || value instanceof Integer) {
      return Serving.JSON.getNodeFactory().numberNode(((Number) value).longValue());
    } else if (value instanceof Double number) {
      return Leaf.floating(number);
    } else if (value instanceof Text text) {
      return Leaf.text(text.copyBytes());
    } else if (value instanceof byte[] bytes) {
      return Leaf.hex(bytes);
    } else if (value instanceof BigDecimal number) {
      return Leaf.decimal(number.unscaledValue());
    } else if (value instanceof LocalDateTime time) {
      return Serving.JSON.getNodeFactory().numberNode(ChronoUnit.MICROS.between(EPOCH, time));
    } else if (value instanceof List<?> list) {
      ArrayNode items = Serving.JSON.createArrayNode();
      list.forEach(item -> items.add(plain(field, item)));
      return items;
    } else if (value instanceof Map<?, ?> map) {
      ArrayNode members = Serving.JSON.createArrayNode();
      if (field.getSubFields() == null) { // a RANGE
        members.add(plain(field, map.get("start"))).add(plain(field, map.get("end")));
      } else {
        field.getSubFields().forEach(member -> members.add(plain(member, map.get(member.getName()))));
      }
      return Serving.JSON.createObjectNode().set("struct", members);
    } else if (value == null) {
      return Serving.JSON.nullNode();
    }
    throw new IllegalStateException("getObject returns a " + value.getClass().getName() + " for " + field.getName());
  }

  /** Answers requests until standard input ends. */
  public static void main(String[] arguments) throws IOException {
    List<String> paths = List.of("execute-select");
    Serving.serve(
        Serving.about("bigquery-java-connection", "google-cloud-bigquery", BigQuery.class, paths), Client::fetch);
  }
}
