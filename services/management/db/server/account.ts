import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

/** The operating system's account that the server runs as. Postgres refuses to run as root. */
export interface Account {
  uid: number
  gid: number
}

/** Accounts that run the server in place of root; the first existing one is chosen. */
const unprivilegedAccounts = ['postgres', 'nobody']

/** Returns the account that owns the data directory, or that a new one will belong to. */
export function chooseAccount(dataDirectory: string): Account {
  const { uid, gid } = userInfo()
  if (uid !== 0) return { uid, gid }
  if (existsSync(dataDirectory)) return statSync(dataDirectory)
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'))
  for (const account of unprivilegedAccounts) {
    const [, , id, group] = accounts.find(([name]) => name === account) ?? []
    if (id && group) return { uid: Number(id), gid: Number(group) }
  }
  throw new Error(
    'the database server cannot run as root: add the user "postgres" (useradd --system postgres)',
  )
}

export interface CommandRunner {
  /** Rejects with an error that states in one line why the command failed. `signal` terminates the command. */
  run(command: string, args: string[], signal?: AbortSignal): Promise<void>
  /** Starts a command that receives `deathSignal` when this process dies, however it dies. */
  start(command: string, args: string[], deathSignal: 'INT'): ChildProcessByStdio<null, null, Readable>
}

/**
 * Returns a runner of commands as an account. The parent folders of `paths` may be closed to the account, as root's home
 * is; its commands then get the capability to read past file permissions, and no other. Throws an error that says what to
 * do if the paths remain unreachable.
 */
export async function runAs(account: Account, paths: readonly string[]): Promise<CommandRunner> {
  const switchUser =
    userInfo().uid === account.uid
      ? []
      : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
  const unprivileged = [...switchUser, '--no-new-privs']
  const readingAll = [
    ...unprivileged,
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
  ]
  for (const options of switchUser.length > 0 ? [unprivileged, readingAll] : [unprivileged]) {
    if (await canRead(options, paths)) return createRunner(options)
  }
  throw new Error(
    `the database server, which runs as user ${account.uid}, cannot reach ${paths.join(' and ')}: allow other users to enter ` +
      'their parent folders (chmod o+x), set EYRIE_DATA to a folder such as /var/lib/eyrie, or set DATABASE_URL',
  )
}

async function canRead(options: string[], paths: readonly string[]): Promise<boolean> {
  const script = 'for path; do test -r "$path" || exit 1; done'
  try {
    await promisify(execFile)('setpriv', [...options, 'sh', '-c', script, 'sh', ...paths], { cwd: '/' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error('the command setpriv is missing: apt-get install util-linux', { cause: error })
    return false
  }
}

function createRunner(options: string[]): CommandRunner {
  // Nothing of this process's environment: it may contain secrets.
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  return {
    async run(command, args, signal) {
      const running = promisify(execFile)('setpriv', [...options, command, ...args], { cwd: '/', env })
      // The `signal` option of `execFile` would reject before the command has exited.
      const terminate = () => running.child.kill()
      signal?.addEventListener('abort', terminate)
      try {
        await running
      } catch (cause) {
        const { stderr } = cause as { stderr?: string }
        throw new Error(`${basename(command)}: ${findErrorLine(String(stderr))}`, { cause })
      } finally {
        signal?.removeEventListener('abort', terminate)
      }
    },
    start: (command, args, deathSignal) =>
      spawn('setpriv', [...options, `--pdeathsig=${deathSignal}`, command, ...args], {
        cwd: '/',
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
  }
}

/** Returns the error that a command printed, or else its last line. */
function findErrorLine(output: string): string {
  const [, error] = /(?:FATAL|PANIC|error): +(.*)/.exec(output) ?? []
  return error ?? output.trim().split('\n').at(-1) ?? ''
}
