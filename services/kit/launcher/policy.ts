/**
 * What a launched program may use. Paths are absolute. A grant of a folder includes everything
 * below it; paths that do not exist when the program starts are not granted.
 */
export interface LaunchPolicy {
  read?: readonly string[]
  /** Programs that may be started, which includes reading them. */
  execute?: readonly string[]
  /** Files and folders in which the program reads, writes, creates and deletes. */
  write?: readonly string[]
  /** Device files that the program may open, in addition to `/dev/null`. */
  devices?: readonly string[]
  /** Whether the program may open sockets. */
  sockets?: boolean
  /** Whether the program may start further processes, which are under the same policy. */
  processes?: boolean
  /**
   * Whether the program may write the names of its threads to `/proc/self/task`, without which
   * CUDA does not start.
   */
  threadNames?: boolean
  limits: LaunchLimits
}

/**
 * Limits of a program and of each process that it starts. A limit that is omitted is that
 * of the parent process.
 */
export interface LaunchLimits {
  /** CPU time in s, after which the program is killed. */
  cpuSeconds?: number
  /** Memory in bytes that the program writes and does not share. */
  dataBytes?: number
  openFiles?: number
  /** Size in bytes up to which the program can write files. */
  fileBytes?: number
}

/** Files that every dynamically linked program reads. */
const SYSTEM_PATHS = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/usr/local/lib',
  '/etc/ld.so.cache',
]
/** Files in which Node and native libraries look up properties of the machine. */
const MACHINE_PATHS = [
  '/etc/localtime',
  '/etc/ssl/openssl.cnf',
  '/dev/random',
  '/dev/urandom',
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/sys/devices/system/cpu',
]
/** Loaders of shared libraries, which the kernel starts together with a program. */
const LOADERS = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1']

/** Converts a policy to options of the launcher. */
export function toOptions(policy: LaunchPolicy): string[] {
  const { read = [], execute = [], write = [], devices = [], limits } = policy
  const { sockets, processes, threadNames } = policy
  const { cpuSeconds, dataBytes, openFiles, fileBytes } = limits
  return [
    ...[...SYSTEM_PATHS, ...MACHINE_PATHS, ...read].map(path => `--read=${path}`),
    ...[...LOADERS, ...execute].map(path => `--execute=${path}`),
    ...write.map(path => `--write=${path}`),
    ...['/dev/null', ...devices].map(path => `--device=${path}`),
    ...(sockets ? ['--sockets'] : []),
    ...(processes ? ['--processes'] : []),
    ...(threadNames ? ['--thread-names'] : []),
    ...toLimit('cpu-seconds', cpuSeconds),
    ...toLimit('data-bytes', dataBytes),
    ...toLimit('open-files', openFiles),
    ...toLimit('file-bytes', fileBytes),
  ]
}

const toLimit = (name: string, value: number | undefined) =>
  value === undefined ? [] : [`--${name}=${value}`]
