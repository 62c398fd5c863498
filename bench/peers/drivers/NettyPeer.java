import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.*;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.Version;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The driver of Netty: requests on standard input, answers on standard output, as
 * wire.go describes them. The first argument is the loop: nio or default.
 *
 * The measurements are those of measure_*.go, line by line where Java allows it. The
 * programs of the oracle and of the conformance kit are in the second half.
 */
public final class NettyPeer {
  static String kind;
  static final PrintStream answers = System.out;
  static final java.util.logging.Logger logger = java.util.logging.Logger.getLogger("");

  public static void main(String[] args) throws Exception {
    kind = args[0];
    if (!kind.equals("nio") && !kind.equals("default")) {
      throw new IllegalArgumentException("argument is " + kind + ", want nio or default");
    }
    System.setOut(System.err);
    logger.setLevel(java.util.logging.Level.OFF); // programs throw on purpose
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = in.readLine()) != null;) {
      String answer;
      try {
        answer = answer(line);
      } catch (Throwable t) {
        t.printStackTrace();
        answer = "error " + t.toString().replace('\n', ' ');
      }
      if (answer != null) say(answer);
    }
    System.exit(0);
  }

  static synchronized void say(String line) {
    answers.println(line);
    answers.flush();
  }

  static String answer(String line) throws Exception {
    String[] words = line.trim().split(" +");
    if (words[0].equals("kit") || words[0].equals("end")) {
      Kit.hear(words);
      return null; // answers from another thread
    }
    if (words[0].equals("program")) {
      Oracle.start(line);
      return null; // answers when it has ended
    }
    Map<String, String> a = new HashMap<>();
    for (int i = 1; i < words.length; i++) {
      int eq = words[i].indexOf('=');
      a.put(words[i].substring(0, eq), words[i].substring(eq + 1));
    }
    switch (words[0]) {
      case "about": return "ok version=" + version();
      case "execute": return execute(num(a, "producers"), num(a, "n"));
      case "inloop": return inLoop(num(a, "n"));
      case "roundtrip": return roundTrips(num(a, "pause"), num(a, "n"));
      case "peak": return peak(num(a, "n"));
      case "latency": return latency(num(a, "rate"), num(a, "warm"), num(a, "n"));
      case "schedulecancel": return scheduleCancel(a.get("where").equals("loop"), num(a, "n"));
      case "lateness": return lateness(num(a, "n"));
      case "shutdown": return shutdowns(num(a, "n"));
      case "overshoot": return overshoot(num(a, "quiet"), num(a, "n"));
      case "backlog": return backlog(num(a, "tasks"));
      case "echo-start": return echoStart(a.containsKey("burn") ? num(a, "burn") : 0);
      case "echo-stop": return echoStop();
      case "memory": return memory();
      case "show": return "ok saw=" + Shows.show(a.get("rule")).replace(' ', '_');
      default: throw new IllegalArgumentException("unknown request " + words[0]);
    }
  }

  static String version() {
    Version v = Version.identify().get("netty-common");
    return (v == null ? "unknown" : v.artifactVersion()) + "/java-" + System.getProperty("java.version");
  }

  static int num(Map<String, String> a, String key) { return Integer.parseInt(a.get(key)); }

  static EventExecutorGroup group() {
    return kind.equals("nio") ? new NioEventLoopGroup(1) : new DefaultEventExecutorGroup(1);
  }

  interface Measure { String on(EventExecutor x) throws Exception; }

  /** on opens an executor, measures, and closes it. */
  static String on(Measure m) throws Exception {
    EventExecutor x = started();
    try {
      return m.on(x);
    } finally {
      stop(x);
    }
  }

  static EventExecutor started() throws Exception {
    EventExecutor x = group().next();
    x.submit(() -> {}).get();
    return x;
  }

  static void stop(EventExecutor x) throws Exception {
    x.parent().shutdownGracefully(0, 0, TimeUnit.SECONDS);
    x.terminationFuture().await();
  }

  static String ops(long ops, long elapsed) { return "ok ops=" + ops + " elapsed=" + elapsed; }

  /** samples rounds to three digits and counts. */
  static String samples(long[] values) {
    TreeMap<Long, Integer> counts = new TreeMap<>();
    for (long v : values) {
      long unit = 1;
      while (Math.abs(v / unit) >= 1000) unit *= 10;
      long half = v < 0 ? -(unit / 2) : unit / 2;
      counts.merge((v + half) / unit * unit, 1, Integer::sum);
    }
    StringBuilder s = new StringBuilder("ok samples=");
    String sep = "";
    for (Map.Entry<Long, Integer> e : counts.entrySet()) {
      s.append(sep).append(e.getKey()).append(':').append(e.getValue());
      sep = ",";
    }
    return s.toString();
  }

  static long ran; // touched by tasks of one loop alone

  static String execute(int producers, int n) throws Exception {
    return on(x -> {
      int share = Math.max(1, n / producers), total = share * producers;
      CountDownLatch done = new CountDownLatch(1), start = new CountDownLatch(1);
      CountDownLatch ready = new CountDownLatch(producers);
      ran = 0;
      Runnable task = () -> { if (++ran == total) done.countDown(); };
      for (int p = 0; p < producers; p++) {
        new Thread(() -> {
          ready.countDown();
          try { start.await(); } catch (InterruptedException e) { throw new Error(e); }
          for (int i = 0; i < share; i++) x.execute(task);
        }).start();
      }
      ready.await();
      long began = System.nanoTime();
      start.countDown();
      done.await();
      return ops(total, System.nanoTime() - began);
    });
  }

  static final int BATCH = 64;
  static int left;

  static String inLoop(int n) throws Exception {
    return on(x -> {
      int turns = Math.max(1, n / (BATCH + 1));
      left = turns;
      CountDownLatch done = new CountDownLatch(1);
      Runnable nothing = () -> {};
      Runnable turn = new Runnable() {
        public void run() {
          if (--left < 0) { done.countDown(); return; }
          for (int i = 0; i < BATCH; i++) x.execute(nothing);
          x.execute(this);
        }
      };
      long began = System.nanoTime();
      x.execute(turn);
      done.await();
      return ops((long) turns * (BATCH + 1), System.nanoTime() - began);
    });
  }

  static void linger(long nanos) {
    for (long began = System.nanoTime(); System.nanoTime() - began < nanos;) Thread.onSpinWait();
  }

  static String roundTrips(int pause, int n) throws Exception {
    return on(x -> {
      long[] values = new long[n];
      Semaphore answer = new Semaphore(0);
      Runnable task = answer::release;
      for (int i = 0; i < n; i++) {
        linger(pause);
        long began = System.nanoTime();
        x.execute(task);
        answer.acquire();
        values[i] = System.nanoTime() - began;
      }
      return samples(values);
    });
  }

  /**
   * Stamps are the times of n tasks. As in Offer of package bench the load is open: a
   * task is due at its time whatever became of those before, its latency counts from
   * then, and the producer yields until then.
   */
  static final class Stamps {
    final long[] due, begun;
    int next;
    final CountDownLatch done = new CountDownLatch(1);
    Stamps(int n) { due = new long[n]; begun = new long[n]; }

    void submit(EventExecutor x, int rate) {
      Runnable task = () -> {
        begun[next] = System.nanoTime();
        if (++next == begun.length) done.countDown();
      };
      long began = System.nanoTime();
      for (int i = 0; i < due.length; i++) {
        if (rate > 0) {
          due[i] = began + i * 1_000_000_000L / rate;
          while (System.nanoTime() < due[i]) Thread.yield();
        } else {
          due[i] = System.nanoTime();
        }
        x.execute(task);
      }
    }
  }

  static String peak(int n) throws Exception {
    return on(x -> {
      Stamps s = new Stamps(n);
      long began = System.nanoTime();
      s.submit(x, 0);
      s.done.await();
      return ops(n, System.nanoTime() - began);
    });
  }

  /** latency measures n tasks that follow warm others. */
  static String latency(int rate, int warm, int n) throws Exception {
    return on(x -> {
      Stamps s = new Stamps(warm + n);
      s.submit(x, rate);
      s.done.await();
      long[] waits = new long[n];
      for (int i = 0; i < n; i++) waits[i] = s.begun[warm + i] - s.due[warm + i];
      return samples(waits);
    });
  }

  static final long HOUR = 3_600_000_000_000L;
  static final int PENDING = 1000;

  static String scheduleCancel(boolean inLoop, int n) throws Exception {
    return on(x -> {
      Random random = new Random(1);
      List<io.netty.util.concurrent.Future<?>> others = new ArrayList<>();
      for (int i = 0; i < PENDING; i++) others.add(x.schedule(() -> {}, far(random), TimeUnit.NANOSECONDS));
      x.submit(() -> {}).get();
      int batches = Math.max(1, n / BATCH);
      io.netty.util.concurrent.Future<?>[] f = new io.netty.util.concurrent.Future<?>[BATCH];
      Runnable batch = () -> {
        for (int i = 0; i < BATCH; i++) f[i] = x.schedule(() -> {}, far(random), TimeUnit.NANOSECONDS);
        for (int i = 0; i < BATCH; i++) f[i].cancel(false);
      };
      long began, elapsed;
      if (inLoop) {
        CountDownLatch done = new CountDownLatch(1);
        left = batches;
        Runnable turn = new Runnable() {
          public void run() {
            if (--left < 0) { done.countDown(); return; }
            batch.run();
            x.execute(this);
          }
        };
        began = System.nanoTime();
        x.execute(turn);
        done.await();
        elapsed = System.nanoTime() - began;
      } else {
        CountDownLatch[] fence = new CountDownLatch[1];
        began = System.nanoTime();
        for (int i = 0; i < batches; i++) {
          batch.run();
          CountDownLatch l = fence[0] = new CountDownLatch(1);
          x.execute(l::countDown);
          l.await();
        }
        elapsed = System.nanoTime() - began;
      }
      for (io.netty.util.concurrent.Future<?> o : others) o.cancel(false);
      return ops((long) batches * BATCH, elapsed);
    });
  }

  static long far(Random random) { return HOUR + (long) (random.nextDouble() * HOUR); }

  static String lateness(int n) throws Exception {
    return on(x -> {
      long[] late = new long[n];
      CountDownLatch fired = new CountDownLatch(n);
      for (int i = 0; i < n; i++) {
        int at = i;
        long delay = 1_000_000L * (1 + i % 20) + 7_000L * (i % 100);
        long due = System.nanoTime() + delay;
        x.schedule(() -> { late[at] = System.nanoTime() - due; fired.countDown(); }, delay, TimeUnit.NANOSECONDS);
      }
      fired.await();
      return samples(late);
    });
  }

  static String shutdowns(int n) throws Exception {
    long[] values = new long[n];
    for (int i = 0; i < n; i++) {
      EventExecutor x = started();
      linger(200_000);
      long began = System.nanoTime();
      x.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      x.terminationFuture().await();
      values[i] = System.nanoTime() - began;
    }
    return samples(values);
  }

  static String overshoot(int quiet, int n) throws Exception {
    long[] values = new long[n];
    Thread[] threads = new Thread[n];
    for (int i = 0; i < n; i++) {
      EventExecutor x = started();
      int at = i;
      threads[i] = new Thread(() -> {
        long began = System.nanoTime();
        x.shutdownGracefully(quiet, HOUR, TimeUnit.NANOSECONDS);
        x.terminationFuture().awaitUninterruptibly();
        values[at] = System.nanoTime() - began - quiet;
      });
      threads[i].start();
      Thread.sleep(1);
    }
    int shorter = 0;
    for (int i = 0; i < n; i++) {
      threads[i].join();
      if (values[i] < 0) shorter++;
    }
    return samples(values) + " short=" + shorter;
  }

  static String backlog(int tasks) throws Exception {
    EventExecutor x = started();
    CountDownLatch hold = new CountDownLatch(1), held = new CountDownLatch(1);
    x.execute(() -> {
      held.countDown();
      try { hold.await(); } catch (InterruptedException e) { throw new Error(e); }
    });
    held.await();
    AtomicLong count = new AtomicLong();
    Runnable task = count::incrementAndGet;
    for (int i = 0; i < tasks; i++) x.execute(task);
    long began = System.nanoTime();
    hold.countDown();
    x.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    x.terminationFuture().await();
    long elapsed = System.nanoTime() - began;
    return ops(1, elapsed) + " lost=" + (tasks - count.get());
  }

  static EventLoopGroup boss, workers;
  static volatile boolean burning;
  static final List<Thread> burners = new ArrayList<>();

  /** memory is of the heap what is live, of the process what is resident; of stacks nothing is known. */
  static String memory() throws Exception {
    Runtime r = Runtime.getRuntime();
    for (int i = 0; i < 2; i++) System.gc(); // the second gives back what the first has freed
    long direct = io.netty.util.internal.PlatformDependent.usedDirectMemory();
    long resident = 0;
    for (String line : java.nio.file.Files.readAllLines(java.nio.file.Paths.get("/proc/self/status"))) {
      if (line.startsWith("VmRSS:")) resident = 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
    return "ok resident=" + resident + " heap=" + (r.totalMemory() - r.freeMemory() + Math.max(0, direct));
  }

  static String echoStart(int spinning) throws Exception {
    if (kind.equals("default")) return "none DefaultEventExecutor has no I/O";
    if (boss != null) throw new IllegalStateException("an echo server is up already");
    boss = new NioEventLoopGroup(1);
    workers = new NioEventLoopGroup(Runtime.getRuntime().availableProcessors());
    Channel c = new ServerBootstrap().group(boss, workers).channel(NioServerSocketChannel.class)
        .option(ChannelOption.SO_BACKLOG, 4096)
        .childOption(ChannelOption.TCP_NODELAY, true)
        .childHandler(new ChannelInitializer<Channel>() {
          protected void initChannel(Channel ch) {
            ch.pipeline().addLast(new ChannelInboundHandlerAdapter() {
              @Override public void channelRead(ChannelHandlerContext ctx, Object message) { ctx.write(message); }
              @Override public void channelReadComplete(ChannelHandlerContext ctx) { ctx.flush(); }
              @Override public void exceptionCaught(ChannelHandlerContext ctx, Throwable t) { ctx.close(); }
            });
          }
        }).bind("127.0.0.1", 0).sync().channel();
    burning = true;
    for (int i = 0; i < spinning; i++) {
      Thread t = new Thread(() -> { while (burning) { } });
      t.setDaemon(true);
      t.start();
      burners.add(t);
    }
    return "ok port=" + ((InetSocketAddress) c.localAddress()).getPort();
  }

  static String echoStop() throws Exception {
    if (kind.equals("default")) return "none DefaultEventExecutor has no I/O";
    burning = false;
    for (Thread t : burners) t.join();
    burners.clear();
    long began = System.nanoTime();
    boss.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    workers.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    boss.terminationFuture().await();
    workers.terminationFuture().await();
    long elapsed = System.nanoTime() - began;
    boss = workers = null;
    return ops(1, elapsed);
  }

  /** Step is a step of a program of the oracle; props/netty says what they mean. */
  static final class Step {
    char op;
    int label, a, b;
    List<Step> body = List.of();

    static List<Step> parse(String text) {
      int[] at = {0};
      List<Step> steps = steps(text, at);
      if (at[0] != text.length()) throw new IllegalArgumentException("program, at " + text.substring(at[0]));
      return steps;
    }

    private static List<Step> steps(String text, int[] at) {
      List<Step> steps = new ArrayList<>();
      while (at[0] < text.length() && text.charAt(at[0]) != '}') {
        if (text.charAt(at[0]) == ' ') { at[0]++; continue; }
        Step s = new Step();
        s.op = text.charAt(at[0]++);
        s.label = number(text, at);
        if (at[0] < text.length() && text.charAt(at[0]) == '(') {
          at[0]++;
          s.a = number(text, at);
          if (text.charAt(at[0]) == ',') { at[0]++; s.b = number(text, at); }
          at[0]++;
        }
        if (at[0] < text.length() && text.charAt(at[0]) == '{') {
          at[0]++;
          s.body = steps(text, at);
          at[0]++;
        }
        steps.add(s);
      }
      return steps;
    }

    private static int number(String text, int[] at) {
      int from = at[0];
      if (text.charAt(at[0]) == '-') at[0]++;
      while (at[0] < text.length() && Character.isDigit(text.charAt(at[0]))) at[0]++;
      return Integer.parseInt(text.substring(from, at[0]));
    }
  }

  /** Thrown by a body of a program: it has no stack, for there are thousands. */
  static final class Planted extends RuntimeException {
    Planted() { super("planted", null, false, false); }
  }

  /** Failing is the thread source of an executor: it fails so many times. */
  static final class Failing implements Executor {
    private int left;
    Failing(int left) { this.left = left; }
    public synchronized void execute(Runnable loop) {
      if (left > 0) { left--; throw new RejectedExecutionException("planted: no thread"); }
      Thread t = new io.netty.util.concurrent.FastThreadLocalThread(loop);
      t.setDaemon(true);
      t.start();
    }
  }

  /**
   * Oracle runs one program: the steps outside at fixed times, 20 ms apart unless the
   * loop is held, and writes down what comes of it.
   */
  static final class Oracle implements Runnable {
    static final int GAP = 20, AT_ONCE = 40;
    static final ExecutorService threads = Executors.newCachedThreadPool(r -> {
      Thread t = new Thread(r);
      t.setDaemon(true);
      return t;
    });
    static final Semaphore slots = new Semaphore(AT_ONCE);

    final String id;
    final List<Step> steps;
    final EventExecutor x;
    final List<String> outer = new ArrayList<>(), loop = new ArrayList<>();
    final Map<Integer, io.netty.util.concurrent.Future<?>> futures = new ConcurrentHashMap<>();
    final Map<Integer, Character> ops = new ConcurrentHashMap<>();
    final Map<Integer, Runnable> hooks = new ConcurrentHashMap<>();
    volatile CountDownLatch hold;

    /** LATE is by how much, in nanoseconds, a thread may be late before a run says nothing. */
    static final long LATE = 8_000_000L;
    static volatile long stalls; // so often has the machine not run a thread for so long

    static {
      Thread watch = new Thread(() -> {
        for (long at = System.nanoTime();;) {
          try { Thread.sleep(1); } catch (InterruptedException e) { return; }
          long now = System.nanoTime();
          if (now - at > LATE) stalls++;
          at = now;
        }
      });
      watch.setDaemon(true);
      watch.start();
    }

    volatile boolean late;

    Oracle(String id, String kind, int fail, List<Step> steps) {
      this.id = id;
      this.steps = steps;
      Executor threads = new Failing(fail);
      x = kind.equals("nio") ? new NioEventLoopGroup(1, threads).next()
          : new io.netty.util.concurrent.DefaultEventExecutor((EventExecutorGroup) null, threads);
    }

    /**
     * start reads "program id kind fail=n steps" and answers "trace id ..." later, or
     * "trace id late" of a run in which the machine did not keep the times.
     */
    static void start(String line) throws Exception {
      String[] head = line.split(" ", 5);
      slots.acquire();
      Oracle o = new Oracle(head[1], head[2], Integer.parseInt(head[3].substring("fail=".length())), Step.parse(head[4]));
      threads.execute(o);
    }

    public void run() {
      try {
        long stalled = stalls;
        long at = System.nanoTime() + 5_000_000L;
        boolean held = false;
        for (Step s : steps) {
          sleepUntil(at);
          if (s.op == 'p' || s.op == 'a') at += s.a * 1_000_000L;
          if (s.op == 'R') held = false;
          if (!held) at += GAP * 1_000_000L;
          if (s.op == 'H') held = true;
          step(s, false);
        }
        sleepUntil(at);
        for (int i = 0; i < 150 && !x.isTerminated(); i++) Thread.sleep(20);
        Thread.sleep(GAP);
        say("trace " + id + " " + (late || stalls != stalled ? "late" : trace()));
      } catch (Throwable t) {
        t.printStackTrace();
        say("trace " + id + " error " + t);
      } finally {
        slots.release();
      }
    }

    void sleepUntil(long at) throws InterruptedException {
      long left = at - System.nanoTime();
      if (left > 0) TimeUnit.NANOSECONDS.sleep(left);
      if (System.nanoTime() - at > LATE) late = true;
    }

    synchronized String trace() {
      StringBuilder end = new StringBuilder();
      for (Map.Entry<Integer, io.netty.util.concurrent.Future<?>> e : new TreeMap<>(futures).entrySet()) {
        io.netty.util.concurrent.Future<?> f = e.getValue();
        String status = !f.isDone() ? "pending" : f.isCancelled() ? "cancelled" : f.isSuccess() ? "ok" : "failed";
        end.append(ops.get(e.getKey())).append(e.getKey()).append('=').append(status).append(' ');
      }
      return String.join(" ", outer) + " | " + String.join(" ", loop) + " | " + end + "end=" + state();
    }

    int state() { return x.isTerminated() ? 3 : x.isShutdown() ? 2 : x.isShuttingDown() ? 1 : 0; }

    synchronized void answer(boolean inLoop, int label, String text) { (inLoop ? loop : outer).add(label + text); }

    Runnable body(Step s) {
      return () -> {
        String mark = x.inEventLoop() ? "" : "?";
        synchronized (this) { loop.add(">" + s.label + mark); }
        try {
          for (Step next : s.body) step(next, true);
        } catch (InterruptedException e) {
          throw new Error(e);
        }
      };
    }

    interface Call { void run() throws Exception; }

    /** call writes + if the call returns, - if it is refused, ! if it is a mistake. */
    void call(Step s, boolean inLoop, Call c) {
      String text = "+";
      try {
        c.run();
      } catch (RejectedExecutionException e) {
        text = "-";
      } catch (IllegalArgumentException e) {
        text = "!";
      } catch (Exception e) {
        text = "-unexpected:" + e.getClass().getSimpleName();
      }
      answer(inLoop, s.label, text);
    }

    interface Submission { io.netty.util.concurrent.Future<?> make(); }

    /** keep does not let a body that speaks of the future be faster than its caller. */
    void keep(Step s, Submission submission) {
      synchronized (futures) {
        io.netty.util.concurrent.Future<?> f = submission.make();
        ops.put(s.label, s.op);
        futures.put(s.label, f);
      }
    }

    io.netty.util.concurrent.Future<?> kept(int label) {
      synchronized (futures) { return futures.get(label); }
    }

    void step(Step s, boolean inLoop) throws InterruptedException {
      TimeUnit ms = TimeUnit.MILLISECONDS;
      switch (s.op) {
        case 'x': call(s, inLoop, () -> x.execute(body(s))); break;
        case 'z': call(s, inLoop, () -> ((io.netty.util.concurrent.SingleThreadEventExecutor) x).lazyExecute(body(s))); break;
        case 'u': call(s, inLoop, () -> keep(s, () -> x.submit(body(s)))); break;
        case 't': call(s, inLoop, () -> ((SingleThreadEventLoop) x).executeAfterEventLoopIteration(body(s))); break;
        case 's': call(s, inLoop, () -> keep(s, () -> x.schedule(body(s), s.a, ms))); break;
        case 'f': call(s, inLoop, () -> keep(s, () -> x.scheduleAtFixedRate(body(s), s.a, s.b, ms))); break;
        case 'd': call(s, inLoop, () -> keep(s, () -> x.scheduleWithFixedDelay(body(s), s.a, s.b, ms))); break;
        case 'h':
          Runnable hook = body(s);
          hooks.put(s.label, hook);
          call(s, inLoop, () -> ((io.netty.util.concurrent.SingleThreadEventExecutor) x).addShutdownHook(hook));
          break;
        case 'r': // it has no answer
          Runnable made = hooks.get(s.a);
          if (made == null) break;
          try {
            ((io.netty.util.concurrent.SingleThreadEventExecutor) x).removeShutdownHook(made);
          } catch (RejectedExecutionException e) {
            break;
          }
          break;
        case 'c':
          if (kept(s.a) == null) break;
          String cancelled;
          try {
            cancelled = kept(s.a).cancel(false) ? "+" : "-";
          } catch (RejectedExecutionException e) {
            cancelled = "!";
          }
          answer(inLoop, s.label, cancelled);
          break;
        case 'l':
          if (kept(s.a) == null) break;
          kept(s.a).addListener(f -> { synchronized (this) { loop.add("L" + s.label); } });
          break;
        case 'g': call(s, inLoop, () -> x.shutdownGracefully(s.a, s.b, ms)); break;
        case 'n': call(s, inLoop, x::shutdown); break;
        case 'q': answer(inLoop, s.label, "=" + state()); break;
        case 'a':
          long began = System.nanoTime();
          boolean ended = x.awaitTermination(s.a, ms);
          boolean slept = System.nanoTime() - began >= s.a * 1_000_000L;
          answer(inLoop, s.label, ended ? slept ? "~" : "+" : "-");
          break;
        case 'w': answer(inLoop, s.label, x.terminationFuture().await(s.a, ms) ? "+" : "-"); break;
        case 'p': if (inLoop) sleepUntil(System.nanoTime() + s.a * 1_000_000L); break;
        case 'H':
          CountDownLatch l = hold = new CountDownLatch(1);
          call(s, inLoop, () -> x.execute(() -> {
            try { l.await(); } catch (InterruptedException e) { throw new Error(e); }
          }));
          break;
        case 'R': hold.countDown(); break;
        case '!': throw new Planted();
        default: throw new Error("unknown step " + s.op);
      }
    }
  }

  /** Shows are departures that sequential programs cannot show. */
  static final class Shows {
    static String show(String rule) throws Exception {
      switch (rule) {
        case "R26": return lostTask();
        case "R133": return earlyTerminated();
        case "R138": return cancelledTermination();
        case "R171": return slowRollBack();
        case "R172": return hiddenFailure();
        default: throw new IllegalArgumentException("no test shows " + rule);
      }
    }

    static void must(boolean held, String what) {
      if (!held) throw new IllegalStateException("not shown: " + what);
    }

    /** An offer that stalls until the loop has terminated: the call returns, nothing runs. */
    static String lostTask() throws Exception {
      CountDownLatch inOffer = new CountDownLatch(1), terminated = new CountDownLatch(1);
      Runnable[] victim = new Runnable[1];
      class Stalling extends ConcurrentLinkedQueue<Runnable> {
        @Override public boolean offer(Runnable r) {
          if (r == victim[0]) {
            inOffer.countDown();
            try { terminated.await(); } catch (InterruptedException e) { throw new Error(e); }
          }
          return super.offer(r);
        }
        @Override public boolean remove(Object o) { throw new UnsupportedOperationException(); } // as MPSC queues do
      }
      NioEventLoopGroup g = new NioEventLoopGroup(1, new Failing(0),
          io.netty.util.concurrent.DefaultEventExecutorChooserFactory.INSTANCE,
          java.nio.channels.spi.SelectorProvider.provider(), DefaultSelectStrategyFactory.INSTANCE,
          io.netty.util.concurrent.RejectedExecutionHandlers.reject(), max -> new Stalling());
      EventExecutor x = g.next();
      x.submit(() -> {}).get();
      AtomicLong ran = new AtomicLong();
      victim[0] = ran::incrementAndGet;
      java.util.concurrent.atomic.AtomicReference<Throwable> thrown = new java.util.concurrent.atomic.AtomicReference<>();
      Thread caller = new Thread(() -> {
        try { x.execute(victim[0]); } catch (Throwable t) { thrown.set(t); }
      });
      caller.start();
      inOffer.await();
      x.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      x.terminationFuture().await();
      terminated.countDown();
      caller.join();
      Thread.sleep(100);
      must(thrown.get() == null && ran.get() == 0, "R26: thrown " + thrown.get() + ", ran " + ran.get());
      return "execute returned, the task never ran";
    }

    static String earlyTerminated() throws Exception {
      int seen = 0, tries = 2000;
      for (int i = 0; i < tries; i++) {
        EventExecutor x = new io.netty.util.concurrent.DefaultEventExecutor((EventExecutorGroup) null, new Failing(0));
        x.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        while (!x.isTerminated()) Thread.onSpinWait();
        if (!x.terminationFuture().isDone()) seen++;
      }
      must(seen > 0, "R133: in none of " + tries);
      return seen + " of " + tries;
    }

    static String cancelledTermination() throws Exception {
      EventExecutor x = new io.netty.util.concurrent.DefaultEventExecutor((EventExecutorGroup) null, r -> {
        Thread t = new Thread(r);
        t.setDaemon(true);
        t.setUncaughtExceptionHandler((thread, e) -> {}); // it throws, at its very end
        t.start();
      });
      x.submit(() -> {}).get();
      boolean cancelled = x.terminationFuture().cancel(false);
      boolean done = x.terminationFuture().isDone(), running = !x.isShuttingDown();
      x.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      must(cancelled && done && running, "R138: cancelled " + cancelled + ", done " + done + ", still running " + running);
      return "cancelled and done while it runs";
    }

    static String slowRollBack() throws Exception {
      AtomicLong made = new AtomicLong();
      long began = System.nanoTime();
      boolean failed = false;
      try {
        new io.netty.util.concurrent.DefaultEventExecutorGroup(2) {
          @Override protected EventExecutor newChild(Executor e, Object... args) throws Exception {
            if (made.incrementAndGet() > 1) throw new Exception("planted: no second child");
            return super.newChild(e, args);
          }
        };
      } catch (IllegalStateException e) {
        failed = true;
      } catch (NullPointerException e) {
        // the subclass's own fields are not set yet when the constructor makes children
        throw new IllegalStateException("not shown: R171: " + e);
      }
      long took = (System.nanoTime() - began) / 1_000_000;
      must(failed && took >= 1900, "R171: failed " + failed + ", took " + took + " ms");
      return "the constructor took " + took + " ms";
    }

    /** A child whose thread cannot be started fails; its group succeeds. */
    static String hiddenFailure() throws Exception {
      EventExecutorGroup g = new io.netty.util.concurrent.MultithreadEventExecutorGroup(1, new Failing(1)) {
        @Override protected EventExecutor newChild(Executor e, Object... args) {
          return new io.netty.util.concurrent.DefaultEventExecutor(this, e);
        }
      };
      EventExecutor child = g.next();
      g.shutdownGracefully(0, 0, TimeUnit.SECONDS);
      child.terminationFuture().await(1, TimeUnit.SECONDS);
      g.terminationFuture().await(1, TimeUnit.SECONDS);
      must(!child.terminationFuture().isSuccess() && g.terminationFuture().isSuccess(),
          "R172: child " + child.terminationFuture() + ", group " + g.terminationFuture());
      return "the child failed, the group succeeded";
    }
  }

  /**
   * Kit is Netty under the conformance kit, which is in another process: bodies are
   * its code. The loop's thread says "run", and until it hears "end" it makes the
   * calls that the body makes. bench/peers/conform/netty.go has the lines.
   */
  static final class Kit {
    static final ExecutorService outside = Executors.newCachedThreadPool(r -> {
      Thread t = new Thread(r);
      t.setDaemon(true);
      return t;
    });
    static final Map<String, io.netty.util.concurrent.SingleThreadEventExecutor> executors = new ConcurrentHashMap<>();
    static final Map<String, BlockingQueue<Runnable>> bodies = new ConcurrentHashMap<>();
    static final Map<String, io.netty.util.concurrent.Future<?>> timers = new ConcurrentHashMap<>();

    static final class Over extends RuntimeException {
      final boolean ok;
      Over(boolean ok) { super("planted", null, false, false); this.ok = ok; }
    }

    static void hear(String[] words) {
      if (words[0].equals("end")) {
        boolean ok = words[2].equals("ok");
        bodies.get(words[1]).add(() -> { throw new Over(ok); });
        return;
      }
      String last = words[words.length - 1];
      Runnable call = () -> {
        String answer;
        try {
          answer = call(words);
        } catch (RejectedExecutionException e) {
          answer = "refused";
        } catch (Throwable t) {
          answer = t.getClass().getSimpleName();
        }
        say("kit " + words[1] + " " + answer);
      };
      if (last.startsWith("@")) bodies.get(last.substring(1)).add(call);
      else outside.execute(call);
    }

    static Runnable body(String id) {
      BlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
      bodies.put(id, calls);
      return () -> {
        say("run " + id);
        try {
          for (;;) calls.take().run();
        } catch (Over over) {
          if (!over.ok) throw over;
        } catch (InterruptedException e) {
          throw new Error(e);
        } finally {
          bodies.remove(id);
        }
      };
    }

    static String call(String[] w) {
      io.netty.util.concurrent.SingleThreadEventExecutor x = executors.get(w[2]);
      TimeUnit ns = TimeUnit.NANOSECONDS;
      switch (w[3]) {
        case "open":
          Executor threads = new Failing(0);
          x = kind.equals("nio")
              ? (io.netty.util.concurrent.SingleThreadEventExecutor) new NioEventLoopGroup(1, threads).next()
              : new io.netty.util.concurrent.DefaultEventExecutor((EventExecutorGroup) null, threads);
          x.terminationFuture().addListener(f -> say("done " + w[2]));
          executors.put(w[2], x);
          break;
        case "execute": x.execute(body(w[4])); break;
        case "submit": x.submit(body(w[4])).addListener(f -> say("future " + w[4] + (f.isSuccess() ? " ok" : " err"))); break;
        case "schedule": timers.put(w[4], x.schedule(body(w[4]), Long.parseLong(w[5]), ns)); break;
        case "cancel": return String.valueOf(timers.get(w[4]).cancel(false));
        case "hook": x.addShutdownHook(body(w[4])); break;
        case "shutdown": x.shutdownGracefully(Long.parseLong(w[4]), Long.parseLong(w[5]), ns); break;
        case "now": x.shutdown(); break;
        case "inloop": return String.valueOf(x.inEventLoop());
        default: throw new IllegalArgumentException("unknown call " + w[3]);
      }
      return "ok";
    }
  }
}
