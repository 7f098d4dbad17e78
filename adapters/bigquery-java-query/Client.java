import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.auth.oauth2.AccessToken;
import com.google.auth.oauth2.GoogleCredentials;
import com.google.cloud.bigquery.ArrowQueryResult;
import com.google.cloud.bigquery.BigQuery;
import com.google.cloud.bigquery.BigQueryOptions;
import com.google.cloud.bigquery.FieldList;
import com.google.cloud.bigquery.FieldValue;
import com.google.cloud.bigquery.FieldValueList;
import com.google.cloud.bigquery.QueryJobConfiguration;
import com.google.cloud.bigquery.QueryResultsFormat;
import com.google.cloud.bigquery.Schema;
import com.google.cloud.bigquery.TableResult;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.util.Text;

/**
 * Client of com.google.cloud:google-cloud-bigquery that asks for the result of a query in Arrow, from a loopback server
 * for the suite.
 *
 * <p>Built by {@code python -m adapters bigquery-java-query}; {@link Serving} speaks the protocol. The library makes the
 * client of the Storage API by itself, without an option for its endpoint, so that client goes through the suite's proxy;
 * requests to the REST API do not. The client has its own defaults for retries.
 */
public final class Client {
  /** Of a store of certificates, which are public. */
  private static final String SECRET = "conformance";

  /** Digits behind the point of a NUMERIC in Arrow. */
  private static final int NUMERIC_SCALE = 9;

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
    through(asked.path("proxy").asText(), asked.path("ca").asText());
    BigQuery service = service(asked.path("project").asText(), asked.path("rest").asText());
    QueryJobConfiguration query =
        QueryJobConfiguration.newBuilder(asked.path("query").asText())
            .setQueryResultsFormat(QueryResultsFormat.ARROW)
            .build();
    String path = asked.path("path").asText();
    if (path.equals("query")) {
      return values(service.query(query));
    } else if (!path.equals("query-arrow")) {
      throw new UnsupportedOperationException("there is no path " + path);
    }
    try (ArrowQueryResult result = service.queryArrow(query)) {
      return vectors(result);
    }
  }

  private static List<ArrayNode> columns(ObjectNode answer, int count) {
    ArrayNode values = answer.putArray("columns");
    List<ArrayNode> columns = new ArrayList<>();
    for (int c = 0; c < count; c++) {
      columns.add(values.addArray());
    }
    return columns;
  }

  /** The rows of queryArrow, from the vectors of each batch. */
  private static ObjectNode vectors(ArrowQueryResult result) {
    ObjectNode answer = Serving.JSON.createObjectNode();
    ArrayNode names = answer.putArray("names");
    ArrayNode types = answer.putArray("types");
    List<Field> fields = result.getArrowSchema().getFields();
    for (Field field : fields) {
      names.add(field.getName() == null ? "" : field.getName());
      types.add(field.getType().toString());
    }
    List<ArrayNode> columns = columns(answer, fields.size());
    long rows = 0;
    for (VectorSchemaRoot root : result) {
      for (int c = 0; c < fields.size(); c++) {
        FieldVector vector = root.getVector(c);
        for (int row = 0; row < root.getRowCount(); row++) {
          columns.get(c).add(plain(fields.get(c), vector.getObject(row)));
        }
      }
      rows += root.getRowCount();
    }
    return answer.put("rows", rows);
  }

  /** A value of a vector's getObject. */
  private static JsonNode plain(Field field, Object value) {
    if (value == null) {
      return Serving.JSON.nullNode();
    } else if (value instanceof Boolean truth) {
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
    } else if (value instanceof List<?> list) {
      ArrayNode items = Serving.JSON.createArrayNode();
      list.forEach(item -> items.add(plain(field.getChildren().get(0), item)));
      return items;
    } else if (value instanceof Map<?, ?> map) {
      ArrayNode members = Serving.JSON.createArrayNode();
      field.getChildren().forEach(member -> members.add(plain(member, map.get(member.getName()))));
      return Serving.JSON.createObjectNode().set("struct", members);
    }
    throw new IllegalStateException("getObject returns a " + value.getClass().getName() + " for " + field.getName());
  }

  /** The rows of query, from the values that the library makes of each row. */
  private static ObjectNode values(TableResult result) {
    ObjectNode answer = Serving.JSON.createObjectNode();
    ArrayNode names = answer.putArray("names");
    ArrayNode types = answer.putArray("types");
    Schema schema = result.getSchema();
    // A statement without a result has no schema.
    FieldList fields = schema == null ? FieldList.of() : schema.getFields();
    for (com.google.cloud.bigquery.Field field : fields) {
      names.add(field.getName());
      types.add(field.getType().getStandardType().name());
    }
    List<ArrayNode> columns = columns(answer, fields.size());
    long rows = 0;
    for (FieldValueList row : result.iterateAll()) {
      for (int c = 0; c < fields.size(); c++) {
        columns.get(c).add(plain(fields.get(c), row.get(c)));
      }
      rows++;
    }
    return answer.put("rows", rows);
  }

  /** A value of a row, or of an element of an array, by the accessor for its type. */
  private static JsonNode plain(com.google.cloud.bigquery.Field field, FieldValue value) {
    if (value.isNull()) {
      return Serving.JSON.nullNode();
    } else if (value.getAttribute() == FieldValue.Attribute.REPEATED) {
      ArrayNode items = Serving.JSON.createArrayNode();
      value.getRepeatedValue().forEach(item -> items.add(plain(field, item)));
      return items;
    } else if (value.getAttribute() == FieldValue.Attribute.RECORD) {
      ArrayNode members = Serving.JSON.createArrayNode();
      FieldList inner = field.getSubFields();
      for (int m = 0; m < inner.size(); m++) {
        members.add(plain(inner.get(m), value.getRecordValue().get(m)));
      }
      return Serving.JSON.createObjectNode().set("struct", members);
    }
    return switch (field.getType().getStandardType()) {
      case BOOL -> Serving.JSON.getNodeFactory().booleanNode(value.getBooleanValue());
      case INT64 -> Serving.JSON.getNodeFactory().numberNode(value.getLongValue());
      case FLOAT64 -> Leaf.floating(value.getDoubleValue());
      case STRING -> Leaf.text(value.getStringValue().getBytes(StandardCharsets.UTF_8));
      case BYTES -> Leaf.hex(value.getBytesValue());
      case NUMERIC -> Leaf.decimal(value.getNumericValue().setScale(NUMERIC_SCALE).unscaledValue());
      case DATE ->
          Serving.JSON.getNodeFactory().numberNode(LocalDate.parse(value.getStringValue()).toEpochDay());
      case TIMESTAMP ->
          Serving.JSON.getNodeFactory()
              .numberNode(ChronoUnit.MICROS.between(Instant.EPOCH, value.getTimestampInstant()));
      default -> throw new IllegalStateException("no result of the suite has a " + field.getType());
    };
  }

  /** Answers requests until standard input ends. */
  public static void main(String[] arguments) throws IOException {
    List<String> paths = List.of("query-arrow", "query");
    Serving.serve(Serving.about("bigquery-java-query", "google-cloud-bigquery", BigQuery.class, paths), Client::fetch);
  }
}
