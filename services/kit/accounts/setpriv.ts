import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Account } from './account.ts'

/** A capability that a program keeps (capabilities(7)). */
export type Capability = 'net_bind_service' | 'dac_read_search'

/** What a program may do, when it is started through setpriv(1) of util-linux. */
export interface Privileges {
  /** The user as which the program runs. Undefined: the user of this process. */
  account?: Account
  capabilities?: readonly Capability[]
  /** Signal that the program receives when the process that started it ends. */
  parentDeathSignal?: 'INT' | 'TERM'
}

/**
 * Option of setpriv for programs that have capabilities and do not run as root. It makes access(2),
 * on which programs such as initdb rely, respect the capabilities.
 *
 * With this option, a change of the user does not remove the capabilities of root. The options for
 * the capability sets must do so.
 */
export const RESPECT_CAPABILITIES = '--securebits=+no_setuid_fixup'

/**
 * Returns the beginning of a command: a program and its arguments must follow. The program has only
 * these privileges, and can never gain others. To run it as another user, this process must be
 * root.
 */
export function createSetprivCommand({
  account,
  capabilities = [],
  parentDeathSignal,
}: Privileges): string[] {
  const capabilityList = ['-all', ...capabilities.map(capability => `+${capability}`)].join(',')
  return [
    'setpriv',
    // The groups of the user include those of devices, such as `video`.
    ...(account ? [`--reuid=${account.name}`, `--regid=${account.gid}`, '--init-groups'] : []),
    `--bounding-set=${capabilityList}`,
    `--inh-caps=${capabilityList}`,
    `--ambient-caps=${capabilityList}`,
    ...(capabilities.includes('dac_read_search') ? [RESPECT_CAPABILITIES] : []),
    '--no-new-privs',
    ...(parentDeathSignal ? [`--pdeathsig=${parentDeathSignal}`] : []),
  ]
}

/**
 * Shell scripts that print the first of their arguments that their user cannot read or write.
 * Readable means that a folder can be entered.
 */
const FIND_CLOSED_PATH = {
  read: `for path; do
    if test -d "$path"; then test -x "$path"; else test -r "$path"; fi || { printf '%s\\n' "$path"; break; }
  done`,
  write: `for path; do test -w "$path" || { printf '%s\\n' "$path"; break; }; done`,
}

/**
 * Returns the first of these paths that is closed to a program with these privileges: it cannot
 * read or write there. Undefined if it can use all of them. Throws an `Error` with the reason if no
 * program can be started with the privileges.
 */
export async function findClosedPath(
  privileges: Privileges,
  use: keyof typeof FIND_CLOSED_PATH,
  paths: readonly string[],
): Promise<string | undefined> {
  const [setpriv = '', ...options] = createSetprivCommand(privileges)
  const script = ['sh', '-c', FIND_CLOSED_PATH[use], 'sh', ...paths]
  try {
    const { stdout } = await promisify(execFile)(setpriv, [...options, ...script], { cwd: '/' })
    return stdout.trimEnd() || undefined
  } catch (cause) {
    throw new Error(describeFailure(cause as ExecFileError), { cause })
  }
}

type ExecFileError = Error & { code?: unknown; stderr?: string }

/** Returns why setpriv has failed: the last line that it has printed. */
function describeFailure({ code, stderr = '', message }: ExecFileError): string {
  if (code === 'ENOENT') return 'the command setpriv is missing: apt-get install util-linux'
  return stderr.trim().split('\n').at(-1) || message
}
