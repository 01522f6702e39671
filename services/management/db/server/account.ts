import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { findAccount } from '@eyrie/kit/accounts/account'
import { RESPECT_CAPABILITIES } from '@eyrie/kit/accounts/setpriv'

/** The operating system account that runs the database server. Postgres refuses to run as root. */
export interface Account {
  uid: number
  gid: number
}

/** Accounts that run the server if this process is root, in order of preference. */
const UNPRIVILEGED_ACCOUNTS = ['eyrie-database', 'postgres', 'nobody']

/** Returns the owner of the data directory, or the account that will own a new one. */
export function chooseAccount(dataDirectory: string): Account {
  const { uid, gid } = userInfo()
  if (uid !== 0) return { uid, gid }
  if (existsSync(dataDirectory)) {
    const owner = statSync(dataDirectory)
    return { uid: owner.uid, gid: owner.gid }
  }
  for (const name of UNPRIVILEGED_ACCOUNTS) {
    const account = findAccount(name)
    if (account) return account
  }
  throw new Error(
    'the database server cannot run as root: add the user "postgres" (useradd --system postgres)',
  )
}

/** Runs commands as a fixed account. */
export interface CommandRunner {
  /**
   * Runs a command; `signal` terminates it. Rejects with a one-line reason if the command fails.
   */
  run(command: string, args: string[], signal?: AbortSignal): Promise<void>
  /**
   * Starts a command that receives SIGINT when this process exits, even if this process is killed.
   */
  start(command: string, args: string[]): ChildProcessByStdio<null, null, Readable>
}

/**
 * Returns a runner for an account that needs to read `paths`. If the account cannot enter a parent
 * folder, such as root's home folder, and this process is root, the commands also get the
 * capability CAP_DAC_READ_SEARCH. Throws if the paths remain unreadable.
 */
export async function createCommandRunner(
  account: Account,
  paths: readonly string[],
): Promise<CommandRunner> {
  for (const options of listSetprivOptions(account)) {
    if (await canRead(options, paths)) return createSetprivRunner(options)
  }
  throw new Error(
    `the database server runs as user ${account.uid} and cannot reach ${paths.join(' and ')}: allow other users to ` +
      'enter their parent folders (chmod o+x), set EYRIE_DATA to a folder such as /var/lib/eyrie, or set DATABASE_URL',
  )
}

/**
 * Returns the options of setpriv(1) with which commands can run as an account,
 * fewest privileges first.
 */
function listSetprivOptions({ uid, gid }: Account): string[][] {
  const noNewPrivileges = '--no-new-privs'
  if (userInfo().uid === uid) return [[noNewPrivileges]]
  const switchAccount = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', noNewPrivileges]
  // The capability must be inheritable and ambient for a command to keep it.
  const readAnywhere = [
    '--bounding-set=-all,+dac_read_search',
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
    RESPECT_CAPABILITIES,
  ]
  return [switchAccount, [...switchAccount, ...readAnywhere]]
}

async function canRead(options: string[], paths: readonly string[]): Promise<boolean> {
  // `for` without a list uses the arguments. The second `sh` is the name of the script.
  const script = 'for path; do test -r "$path" || exit 1; done'
  try {
    await promisify(execFile)('setpriv', [...options, 'sh', '-c', script, 'sh', ...paths], {
      cwd: '/',
    })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new Error('the command setpriv is missing: apt-get install util-linux', {
        cause: error,
      })
    }
    return false
  }
}

/** Returns a runner that starts commands through setpriv(1) with these options. */
function createSetprivRunner(options: string[]): CommandRunner {
  // The environment of this process may contain secrets, so commands do not inherit it.
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  return {
    async run(command, args, signal) {
      const running = promisify(execFile)('setpriv', [...options, command, ...args], {
        cwd: '/',
        env,
      })
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
    start: (command, args) =>
      spawn('setpriv', [...options, '--pdeathsig=INT', command, ...args], {
        cwd: '/',
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
  }
}

/**
 * Returns the error message in the output of a Postgres command, or the last line of the output.
 */
function findErrorLine(output: string): string {
  const [, message] = /(?:FATAL|PANIC|error): +(.*)/.exec(output) ?? []
  return message ?? output.trim().split('\n').at(-1) ?? ''
}
