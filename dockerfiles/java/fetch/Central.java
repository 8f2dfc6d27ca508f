import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A repository of artifacts on this machine, in front of a real one: it knows only the versions of a day, or only the
 * files of a lock.
 *
 * <p>Usage: java Central.java REPOSITORY BOUND NOTE PORT [CACHE]. BOUND is a time (2023-01-02T03:04:05Z) or a file with a path and
 * "sha256:" with a hash in each line. What is not as of the time is said in the file NOTE. The port is written to the
 * file PORT once the repository answers. Files of releases, which never change, are kept in the folder CACHE for other
 * builds. A client is told the hash of what it was just given: half of its requests ask for one.
 */
public class Central {
    static final HttpClient CLIENT = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
    static final Pattern VERSION = Pattern.compile("<version>\\s*([^<\\s]+)\\s*</version>\\s*");
    /** A file whose date is known: a mirror may give none, or that of its own copy. */
    static final String DATED = "/junit/junit/4.12/junit-4.12.pom", DATE = "2014-12-0";

    static final String LOGIN = System.getenv("MAVEN_LOGIN");
    static final Set<String> SAID = new TreeSet<>();

    static String repository;
    static Instant day;
    static Map<String, String> locked;
    static Path note, cache;
    static final Map<String, String> HASHES = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        repository = args[0].replaceAll("/+$", "");
        note = Path.of(args[2]);
        if (args.length > 4) cache = Path.of(args[4]);
        if (Files.isRegularFile(Path.of(args[1]))) {
            locked = new TreeMap<>();
            for (String line : Files.readAllLines(Path.of(args[1]))) {
                int at = line.lastIndexOf(' ');
                locked.put("/" + line.substring(0, at), line.substring(at + 1));
            }
        } else {
            Instant known = dateOf(DATED);
            if (known != null && known.toString().startsWith(DATE)) day = Instant.parse(args[1]);
        }
        System.setProperty("sun.net.httpserver.nodelay", "true"); // else each answer waits 40 ms for an acknowledgement
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", Central::answer);
        server.start();
        Files.writeString(Path.of(args[3]), server.getAddress().getPort() + "\n");
    }

    static void answer(HttpExchange exchange) throws IOException {
        int status = 502;
        byte[] body = {};
        try {
            String path = exchange.getRequestURI().getPath();
            byte[] known = readKnown(path);
            HttpResponse<byte[]> found = known == null ? find(path) : null;
            status = known != null ? 200 : found == null ? 404 : found.statusCode();
            if (status == 200) body = known != null ? known : bounded(path, found.body());
            if (status == 200) keep(path, body, known == null);
        } catch (IOException | InterruptedException | IllegalStateException error) {
            status = 502;
            System.err.println(exchange.getRequestURI() + ": " + error);
        }
        boolean sends = status == 200 && !exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(status, sends && body.length > 0 ? body.length : -1);
        if (sends && body.length > 0) exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** Returns a hash of what was given before, or a file of the cache; null for others, and for what a lock has not. */
    static byte[] readKnown(String path) throws IOException {
        String hash = path.endsWith(".sha1") ? HASHES.get(path.substring(0, path.length() - 5)) : null;
        Path file = cache == null ? null : cache.resolve(sha256(path.getBytes("UTF-8")));
        byte[] known = hash != null ? hash.getBytes("UTF-8") : file != null && Files.isRegularFile(file) ? Files.readAllBytes(file) : null;
        boolean isHeld = locked == null || (known != null && ("sha256:" + sha256(known)).equals(locked.get(path)));
        return isHeld ? known : null;
    }

    static void keep(String path, byte[] body, boolean isNew) throws IOException {
        if (path.endsWith(".sha1") || path.endsWith("/maven-metadata.xml")) return;
        HASHES.put(path, digest("SHA-1", body));
        if (cache == null || !isNew || path.contains("-SNAPSHOT")) return;
        Files.createDirectories(cache);
        Path part = Files.createTempFile(cache, "part", "");
        Files.write(part, body);
        Files.move(part, cache.resolve(sha256(path.getBytes("UTF-8"))), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Returns what the repository has, or null for a file that there is none of. */
    static HttpResponse<byte[]> find(String path) throws IOException, InterruptedException {
        if (path.matches(".*/maven-metadata\\.xml\\..*")) return null; // hashes of what is changed here
        if (locked != null && !locked.containsKey(path) && !path.endsWith("/maven-metadata.xml")) return null;
        return CLIENT.send(request(path).build(), BodyHandlers.ofByteArray());
    }

    static byte[] bounded(String path, byte[] body) throws IOException, InterruptedException {
        if (path.endsWith("/maven-metadata.xml")) return metadata(path, new String(body, "UTF-8")).getBytes("UTF-8");
        if (locked != null && !locked.get(path).equals("sha256:" + sha256(body)))
            throw new IllegalStateException("another file than the lock's");
        return body;
    }

    /** Returns a list of versions with only those that the bound allows. */
    static String metadata(String path, String text) throws IOException, InterruptedException {
        String folder = path.substring(0, path.lastIndexOf('/'));
        int start = text.indexOf("<versions>"), end = text.indexOf("</versions>");
        if (start < 0 || end < 0) return text;
        if (locked == null && day == null) {
            say("the repository does not say when artifacts came out: " + folder.substring(1) + " is the newest of "
                + Instant.now().toString().substring(0, 10));
            return text;
        }
        List<String> versions = new ArrayList<>();
        Matcher found = VERSION.matcher(text.substring(start, end));
        while (found.find()) versions.add(found.group(1));
        List<String> kept = versions.parallelStream().filter(each -> isAllowed(folder, each)).collect(Collectors.toList());
        if (kept.isEmpty()) {
            say("no version of " + folder.substring(1) + " is as old: the newest is taken");
            return text;
        }
        String last = kept.get(kept.size() - 1);
        String listed = kept.stream().map(each -> "<version>" + each + "</version>").collect(Collectors.joining());
        return (text.substring(0, start) + "<versions>" + listed + text.substring(end))
            .replaceAll("<latest>[^<]*</latest>", "<latest>" + Matcher.quoteReplacement(last) + "</latest>")
            .replaceAll("<release>[^<]*</release>", "<release>" + Matcher.quoteReplacement(last) + "</release>");
    }

    static boolean isAllowed(String folder, String version) {
        if (locked != null) return locked.keySet().stream().anyMatch(path -> path.startsWith(folder + "/" + version + "/"));
        String artifact = folder.substring(folder.lastIndexOf('/') + 1);
        try {
            Instant date = dateOf(folder + "/" + version + "/" + artifact + "-" + version + ".pom");
            return date != null && !date.isAfter(day);
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    static Instant dateOf(String path) throws IOException, InterruptedException {
        HttpRequest asked = request(path).method("HEAD", HttpRequest.BodyPublishers.noBody()).build();
        return CLIENT.send(asked, BodyHandlers.discarding()).headers().firstValue("Last-Modified")
            .map(each -> ZonedDateTime.parse(each, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant()).orElse(null);
    }

    static HttpRequest.Builder request(String path) {
        HttpRequest.Builder asked = HttpRequest.newBuilder(URI.create(repository + path.replace(" ", "%20")));
        return LOGIN == null ? asked : asked.header("Authorization", "Basic " + LOGIN);
    }

    static synchronized void say(String sentence) throws IOException {
        if (SAID.add(sentence)) Files.write(note, SAID);
    }

    static String sha256(byte[] content) {
        return digest("SHA-256", content);
    }

    static String digest(String kind, byte[] content) {
        try {
            StringBuilder hex = new StringBuilder();
            for (byte each : MessageDigest.getInstance(kind).digest(content)) hex.append(String.format("%02x", each));
            return hex.toString();
        } catch (java.security.NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }
}
