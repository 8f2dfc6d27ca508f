// Runs a command whose downloads go through a proxy inside of its container, and ends with the command's status.
//
// With -record DIR the proxy asks the network, or the folder -files, and keeps each answer. Without it, it gives the
// answers of the archive -store and asks nobody: what was not kept is refused with 403 and named in UNFORESEEN, and the
// reward goes unless it is full. Each process makes an authority of its own for HTTPS, which only the command trusts.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	logs       = "/logs/verifier/"
	unforeseen = logs + "unforeseen.txt"
	tries      = 4
	seconds    = "900" // that clients wait for an answer, which comes when all of it is here
)

var (
	record  = flag.String("record", "", "folder to keep answers in")
	store   = flag.String("store", "", "archive of answers")
	files   = flag.String("files", "", "folder with HOST/PATH of hosts that are not asked")
	ca      = flag.String("ca", "", "bundle of authorities to trust while recording")
	names   = flag.String("names", "", "hosts that may be looked up in vain, parted by commas")
	carried = flag.String("carried", "", "folders of a patch, parted by colons: no program is taken from them")
	also    = flag.String("also", "", "file with further addresses to record")
	rewards = []string{logs + "reward.json", logs + "reward.txt"}
	// Headers of an answer that are kept.
	kept = []string{"Content-Type", "Content-Encoding", "Location", "Link", "Etag", "Last-Modified", "Www-Authenticate"}
	// Headers of a request that are not passed on: an answer is kept whole, as it is for everybody.
	dropped = []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since", "Accept-Encoding", "Connection",
		"Proxy-Connection", "Proxy-Authorization", "Te", "Upgrade"}
)

type answer struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Body    string            `json:"body,omitempty"` // sha256 of the request's
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"`
	SHA256  string            `json:"sha256"`
	Size    int               `json:"size"`
}

func (a answer) key() string { return a.Method + " " + a.URL + " " + a.Body }

type relay struct {
	mutex   sync.Mutex
	known   map[string]answer
	refused []string
	load    func(string) ([]byte, error)
	client  http.RoundTripper
	key     *ecdsa.PrivateKey
	issuer  *x509.Certificate
	opened  chan net.Conn // connections without their TLS
	address net.Addr
}

func main() {
	flag.Parse()
	os.Remove(unforeseen)
	r := &relay{known: map[string]answer{}, opened: make(chan net.Conn)}
	first, _ := http.NewRequest("GET", "http://any.example", nil)
	http.ProxyFromEnvironment(first) // reads the environment once, before it changes
	if *record == "" {
		r.open()
	} else {
		check(os.MkdirAll(*record, 0o755))
		trusted := x509.NewCertPool()
		if bundle, err := os.ReadFile(*ca); err != nil || !trusted.AppendCertsFromPEM(bundle) {
			trusted = nil // the system's
		}
		r.client = &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableCompression: true}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	r.address = listener.Addr()
	r.prepare()
	go http.Serve(listener, r)
	go http.Serve(r, r)
	child := exec.Command(flag.Arg(0), flag.Args()[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := child.Run(); child.ProcessState == nil {
		check(err)
	}
	r.finish()
	os.Exit(child.ProcessState.ExitCode())
}

func check(err error) {
	if err != nil {
		spoil("the relay failed: " + err.Error())
		fmt.Println("relay:", err)
		os.Exit(1)
	}
}

// finish writes what was kept, or takes a reward away that a refused download may have spoiled.
func (r *relay) finish() {
	more, _ := os.ReadFile(*also)
	for addresses, hops := strings.Fields(string(more)), 0; len(addresses) > 0 && hops < 99; hops++ {
		request, err := http.NewRequest("GET", addresses[0], nil)
		addresses = addresses[1:]
		if err == nil && r.known[describe(request, nil).key()].URL == "" {
			found, _, _ := r.ask(request, nil) // one that cannot be had is missed only if it is asked for
			if next, err := request.URL.Parse(found.Headers["Location"]); err == nil && found.Headers["Location"] != "" {
				addresses = append(addresses, next.String())
			}
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	refused := strings.Join(append(r.refused, ""), "\n")
	if *record == "" && refused != "" {
		spoil(refused)
	}
	if *record != "" {
		var answers []answer
		for _, each := range r.known {
			answers = append(answers, each)
		}
		index, _ := json.Marshal(answers)
		check(os.WriteFile(filepath.Join(*record, "index.json"), index, 0o644))
		check(os.WriteFile(filepath.Join(*record, "refused"), []byte(refused), 0o644))
	}
}

// spoil says what was refused, and takes the reward away unless it is full: then nothing was missing.
func spoil(why string) {
	if !isFull() {
		os.Remove(rewards[0])
		os.Remove(rewards[1])
	}
	os.WriteFile(unforeseen, []byte(why), 0o644)
}

// isFull reports whether every reward is at least 1.
func isFull() bool {
	for _, path := range rewards {
		if text, err := os.ReadFile(path); err == nil {
			table, number := map[string]float64{}, 0.0
			if json.Unmarshal(text, &table) != nil {
				json.Unmarshal(text, &number)
				table[""] = number
			}
			isFull := len(table) > 0
			for _, each := range table {
				isFull = isFull && each >= 1
			}
			return isFull
		}
	}
	return false
}

func (r *relay) open() {
	archive, err := zip.OpenReader(*store)
	check(err)
	r.load = func(name string) ([]byte, error) {
		file, err := archive.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(file)
	}
	index, err := r.load("index.json")
	check(err)
	var answers []answer
	check(json.Unmarshal(index, &answers))
	for _, each := range answers {
		r.known[each.key()] = each
	}
	go r.refuseNames()
}

func (r *relay) refuse(text string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !strings.Contains("\n"+strings.Join(r.refused, "\n")+"\n", "\n"+text+"\n") {
		r.refused = append(r.refused, text)
	}
}

func (r *relay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodConnect {
		r.tunnel(w, request)
		return
	}
	if !request.URL.IsAbs() {
		request.URL.Scheme, request.URL.Host = "https", strings.TrimSuffix(request.Host, ":443")
	}
	isHead := request.Method == http.MethodHead
	if isHead {
		request.Method = http.MethodGet
	}
	body, _ := io.ReadAll(request.Body)
	find := r.ask
	if *record == "" {
		find = r.find
	}
	found, content, err := find(request, body)
	if err != nil {
		r.refuse(request.Method + " " + request.URL.String() + ": " + err.Error())
		http.Error(w, "not foreseen: "+request.URL.String(), http.StatusForbidden)
		return
	}
	for name, value := range found.Headers {
		w.Header().Set(name, value)
	}
	if found.Status == http.StatusOK && request.Method == http.MethodGet {
		http.ServeContent(w, request, "", time.Time{}, bytes.NewReader(content))
		return
	}
	w.WriteHeader(found.Status)
	if !isHead {
		w.Write(content)
	}
}

func describe(request *http.Request, body []byte) answer {
	asked := answer{Method: request.Method, URL: request.URL.String()}
	if len(body) > 0 {
		asked.Body = hash(body)
	}
	return asked
}

func hash(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// find returns the kept answer to a request, which has the hash that it had then.
func (r *relay) find(request *http.Request, body []byte) (answer, []byte, error) {
	found, isKnown := r.known[describe(request, body).key()]
	if !isKnown {
		return found, nil, errors.New("was not asked for when the task was sealed")
	}
	content, err := r.load(found.SHA256)
	if err == nil && hash(content) != found.SHA256 {
		err = errors.New("the kept answer has another hash")
	}
	return found, content, err
}

// ask gets an answer from the folder of files or from the network, and keeps it.
func (r *relay) ask(request *http.Request, body []byte) (asked answer, content []byte, err error) {
	asked = describe(request, body)
	content, isThere := r.readFile(request, &asked)
	for try := 0; !isThere && try < tries; try++ {
		time.Sleep(time.Duration(try) * time.Second)
		copied, _ := http.NewRequest(asked.Method, asked.URL, bytes.NewReader(body))
		copied.Header = request.Header.Clone()
		for _, name := range dropped {
			copied.Header.Del(name)
		}
		var got *http.Response
		if got, err = r.client.RoundTrip(copied); err != nil {
			continue
		}
		content, err = io.ReadAll(got.Body)
		got.Body.Close()
		if got.StatusCode >= 500 || got.StatusCode == http.StatusTooManyRequests {
			err = errors.New(got.Status)
		}
		asked.Status, asked.Headers, isThere = got.StatusCode, map[string]string{}, err == nil
		for _, name := range kept {
			if value := got.Header.Get(name); value != "" {
				asked.Headers[name] = value
			}
		}
	}
	if err != nil {
		return asked, nil, err
	}
	asked.SHA256, asked.Size = hash(content), len(content)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if _, isKnown := r.known[asked.key()]; !isKnown {
		r.known[asked.key()] = asked
	}
	return asked, content, os.WriteFile(filepath.Join(*record, asked.SHA256), content, 0o644)
}

func (r *relay) readFile(request *http.Request, asked *answer) ([]byte, bool) {
	folder := filepath.Join(*files, filepath.Base(request.URL.Hostname()))
	if _, err := os.Stat(folder); *files == "" || err != nil {
		return nil, false
	}
	path := filepath.Join(folder, filepath.Clean("/"+request.URL.Path))
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "index.html")
	}
	content, err := os.ReadFile(path)
	asked.Status, asked.Headers = http.StatusOK, map[string]string{"Content-Type": http.DetectContentType(content)}
	if err != nil {
		asked.Status = http.StatusNotFound
	}
	return content, true
}

func (r *relay) Accept() (net.Conn, error) { return <-r.opened, nil }
func (r *relay) Close() error              { return nil }
func (r *relay) Addr() net.Addr            { return r.address }

func (r *relay) tunnel(w http.ResponseWriter, request *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	certify := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) { return r.certify(request.URL.Hostname()) }
	secured := tls.Server(conn, &tls.Config{NextProtos: []string{"http/1.1"}, GetCertificate: certify})
	if err := secured.Handshake(); err != nil {
		conn.Close()
		r.refuse("CONNECT " + request.Host + ": " + err.Error())
		return
	}
	r.opened <- secured
}

func (r *relay) certify(host string) (*tls.Certificate, error) {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	made := &x509.Certificate{SerialNumber: serial, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour)}
	made.Subject.CommonName = "assay relay " + host
	issuer := r.issuer
	switch address := net.ParseIP(host); {
	case issuer == nil:
		made.IsCA, made.BasicConstraintsValid, made.KeyUsage, issuer = true, true, x509.KeyUsageCertSign, made
	case address != nil:
		made.IPAddresses = []net.IP{address}
	default:
		made.DNSNames = []string{host}
	}
	signed, err := x509.CreateCertificate(rand.Reader, made, issuer, &r.key.PublicKey, r.key)
	return &tls.Certificate{Certificate: [][]byte{signed}, PrivateKey: r.key}, err
}

// prepare sets the variables by which programs find the proxy and trust it, for this process and its command.
func (r *relay) prepare() {
	var err error
	r.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	authority, err := r.certify("")
	check(err)
	r.issuer, err = x509.ParseCertificate(authority.Certificate[0])
	check(err)
	folder, err := os.MkdirTemp("", "relay-")
	check(err)
	check(os.Chmod(folder, 0o755))
	bundle, apt, wget := folder+"/ca.pem", folder+"/apt.conf", folder+"/wgetrc"
	for path, text := range map[string]string{
		bundle: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.issuer.Raw})),
		apt:    "Acquire::Check-Valid-Until \"false\";\nAcquire::https::CaInfo \"" + bundle + "\";\n",
		wget:   "ca_certificate = " + bundle + "\n",
	} {
		check(os.WriteFile(path, []byte(text), 0o644))
	}
	proxy, local := "http://"+r.address.String(), "localhost,127.0.0.1,::1"
	for value, of := range map[string]string{
		proxy:       "http_proxy https_proxy HTTP_PROXY HTTPS_PROXY",
		local:       "no_proxy NO_PROXY",
		bundle:      "SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE PIP_CERT GIT_SSL_CAINFO CARGO_HTTP_CAINFO NODE_EXTRA_CA_CERTS npm_config_cafile DENO_CERT",
		seconds:     "PIP_DEFAULT_TIMEOUT UV_HTTP_TIMEOUT CARGO_HTTP_TIMEOUT",
		"1":         "UV_NO_CONFIG PIP_DISABLE_PIP_VERSION_CHECK",
		"false":     "npm_config_audit npm_config_fund npm_config_update_notifier",
		"/dev/null": "PIP_CONFIG_FILE",
		apt:         "APT_CONFIG",
		wget:        "WGETRC",
		cleanPath(): "PATH",
	} {
		for _, name := range strings.Fields(of) {
			check(os.Setenv(name, value))
		}
	}
}

// cleanPath leaves out of the search path what is not absolute, or below one of the carried folders.
func cleanPath() string {
	var clean []string
	for _, each := range filepath.SplitList(os.Getenv("PATH")) {
		isOurs := filepath.IsAbs(each)
		for _, folder := range filepath.SplitList(*carried) {
			isOurs = isOurs && !strings.HasPrefix(filepath.Clean(each)+"/", filepath.Clean(folder)+"/")
		}
		if isOurs {
			clean = append(clean, each)
		}
	}
	return strings.Join(clean, ":")
}

// refuseNames answers lookups with "no such name", and notes them: a program that knows no proxy asks so.
func (r *relay) refuseNames() {
	socket, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		return
	}
	os.WriteFile("/etc/resolv.conf", []byte("nameserver 127.0.0.1\n"), 0o644)
	for packet := make([]byte, 1500); ; {
		size, from, err := socket.ReadFrom(packet)
		name, at := "", 12
		for err == nil && at < size && packet[at] != 0 && at+1+int(packet[at]) < size {
			name += "." + strings.ToLower(string(packet[at+1:at+1+int(packet[at])]))
			at += 1 + int(packet[at])
		}
		if err != nil || at+5 > size {
			continue
		}
		name = strings.TrimPrefix(name, ".")
		if strings.Contains(name, ".") && !strings.HasSuffix(name, ".arpa") && !strings.Contains(","+*names+",", ","+name+",") {
			r.refuse("lookup " + name + ": asked past the proxy")
		}
		reply := append([]byte{packet[0], packet[1], 0x81, 0x83, 0, 1, 0, 0, 0, 0, 0, 0}, packet[12:at+5]...)
		socket.WriteTo(reply, from)
	}
}
