import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

/** Who runs the server: Postgres refuses to be run by root. */
export interface Account {
  uid: number
  gid: number
}

/** Accounts that may stand in for root, the first that the machine has. */
const standIns = ['postgres', 'nobody']

/** The account that owns the data, or that new data shall belong to. */
export function accountFor(data: string): Account {
  const { uid, gid } = userInfo()
  if (uid !== 0) return { uid, gid }
  if (existsSync(data)) return statSync(data)
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map(line => line.split(':'))
  for (const name of standIns) {
    const [, , id, group] = accounts.find(([it]) => it === name) ?? []
    if (id && group) return { uid: Number(id), gid: Number(group) }
  }
  throw new Error(
    'the database server cannot be run by root: add the user "postgres" (useradd --system postgres)',
  )
}

/** How commands are run as the account. */
export interface Runner {
  /** Rejects with an Error that says in a line why the command has failed. Ended with `ending`. */
  run(command: string, args: string[], ending?: AbortSignal): Promise<void>
  /** Starts a command that is asked to end, by `signal`, when this process dies however it dies. */
  start(command: string, args: string[], signal: 'INT'): ChildProcessByStdio<null, null, Readable>
}

/**
 * Runs commands as the account. Where the account may not enter the folders on the way to `paths` (those of root are
 * closed, often), it is given the one capability to read past that, if this process has it to give. Throws an Error that
 * says what to do if the paths cannot be reached.
 */
export async function runAs(account: Account, paths: readonly string[]): Promise<Runner> {
  const switched =
    userInfo().uid === account.uid
      ? []
      : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
  const plain = [...switched, '--no-new-privs']
  const reading = [...plain, '--inh-caps=-all,+dac_read_search', '--ambient-caps=-all,+dac_read_search']
  for (const options of switched.length > 0 ? [plain, reading] : [plain]) {
    if (await reaches(options, paths)) return runner(options)
  }
  throw new Error(
    `the database server, which runs as user ${account.uid}, cannot reach ${paths.join(' and ')}: let others pass through their ` +
      'folders (chmod o+x), set EYRIE_DATA to a folder such as /var/lib/eyrie, or set DATABASE_URL',
  )
}

async function reaches(options: string[], paths: readonly string[]): Promise<boolean> {
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

/** The line of all that a command has said that tells why. */
function reasonIn(said: string): string {
  const [, reason] = /(?:FATAL|PANIC|error): +(.*)/.exec(said) ?? []
  return reason ?? said.trim().split('\n').at(-1) ?? ''
}

function runner(options: string[]): Runner {
  // Nothing of this process's environment: it may hold secrets.
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
  return {
    async run(command, args, ending) {
      const running = promisify(execFile)('setpriv', [...options, command, ...args], { cwd: '/', env })
      // Not by the option of `execFile`, which does not wait until the command has ended.
      const end = () => running.child.kill()
      ending?.addEventListener('abort', end)
      try {
        await running
      } catch (cause) {
        const { stderr } = cause as { stderr?: string }
        throw new Error(`${basename(command)}: ${reasonIn(String(stderr))}`, { cause })
      } finally {
        ending?.removeEventListener('abort', end)
      }
    },
    start: (command, args, signal) =>
      spawn('setpriv', [...options, `--pdeathsig=${signal}`, command, ...args], {
        cwd: '/',
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
  }
}
