// Reads the table p.d.t as users of executeSelect in google-cloud-bigquery do, through the proxy of front.py.
import com.google.auth.oauth2.*;
import com.google.cloud.bigquery.*;
import java.io.*;
import java.net.URI;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Date;

public class Select {
  static void through(URI proxy, String authority) throws Exception {
    System.setProperty("https.proxyHost", proxy.getHost());
    System.setProperty("https.proxyPort", String.valueOf(proxy.getPort()));
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (var file = new FileInputStream(authority)) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    File written = File.createTempFile("trust", ".p12");
    try (var file = new FileOutputStream(written)) {
      store.store(file, "public".toCharArray());
    }
    System.setProperty("javax.net.ssl.trustStore", written.toString());
    System.setProperty("javax.net.ssl.trustStorePassword", "public");
  }

  public static void main(String[] arguments) throws Exception {
    through(URI.create(System.getenv("HTTPS_PROXY")), System.getenv("SSL_CERT_FILE"));
    var token = GoogleCredentials.create(new AccessToken("x", new Date(Long.MAX_VALUE)));
    var service = BigQueryOptions.newBuilder().setProjectId("p").setCredentials(token).build().getService();
    var settings = ConnectionSettings.newBuilder().setUseReadAPI(true).setMinResultSize(0).build();
    var rows = service.createConnection(settings).executeSelect("SELECT * FROM d.t").getResultSet();
    while (rows.next()) System.out.println(rows.getString("s"));
    System.exit(0);
  }
}
