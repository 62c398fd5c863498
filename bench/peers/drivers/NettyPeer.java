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

  public static void main(String[] args) throws Exception {
    kind = args[0];
    if (!kind.equals("nio") && !kind.equals("default")) {
      throw new IllegalArgumentException("argument is " + kind + ", want nio or default");
    }
    System.setOut(System.err);
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
    if (words[0].equals("program")) {
      Oracle.start(line);
      return null; // answers when it has ended
    }
    if (words[0].equals("kit")) return Kit.answer(words);
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
      case "latency": return latency(num(a, "rate"), num(a, "n"));
      case "schedulecancel": return scheduleCancel(a.get("where").equals("loop"), num(a, "n"));
      case "lateness": return lateness(num(a, "n"));
      case "shutdown": return shutdowns(num(a, "n"));
      case "overshoot": return overshoot(num(a, "quiet"), num(a, "n"));
      case "backlog": return backlog(num(a, "tasks"));
      case "echo-start": return echoStart();
      case "echo-stop": return echoStop();
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

  /** Stamps are the times of n tasks, as in measure_tasks.go. */
  static final class Stamps {
    final long[] submitted, begun;
    int next;
    final CountDownLatch done = new CountDownLatch(1);
    Stamps(int n) { submitted = new long[n]; begun = new long[n]; }

    void submit(EventExecutor x, int rate) {
      Runnable task = () -> {
        begun[next] = System.nanoTime();
        if (++next == begun.length) done.countDown();
      };
      long began = System.nanoTime();
      for (int i = 0; i < submitted.length; i++) {
        long now = System.nanoTime();
        if (rate > 0) {
          for (long due = began + i * 1_000_000_000L / rate; now < due;) now = System.nanoTime();
        }
        submitted[i] = now;
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

  static String latency(int rate, int n) throws Exception {
    return on(x -> {
      Stamps s = new Stamps(n);
      s.submit(x, rate);
      s.done.await();
      long[] waits = new long[n];
      for (int i = 0; i < n; i++) waits[i] = s.begun[i] - s.submitted[i];
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

  static String echoStart() throws Exception {
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
    return "ok port=" + ((InetSocketAddress) c.localAddress()).getPort();
  }

  static String echoStop() throws Exception {
    if (kind.equals("default")) return "none DefaultEventExecutor has no I/O";
    long began = System.nanoTime();
    boss.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    workers.shutdownGracefully(0, 0, TimeUnit.SECONDS);
    boss.terminationFuture().await();
    workers.terminationFuture().await();
    long elapsed = System.nanoTime() - began;
    boss = workers = null;
    return ops(1, elapsed);
  }
}
