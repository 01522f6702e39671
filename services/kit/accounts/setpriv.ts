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
 * access(2) ignores the capabilities of every user but root otherwise, and programs such as initdb rely on it. The kernel keeps
 * capabilities when the user changes, and setpriv removes them.
 */
export const RESPECT_CAPABILITIES = '--securebits=+no_setuid_fixup'

/**
 * Returns the command that runs the command in its last arguments with these privileges only. It can never gain others. To run
 * it as another user, this process needs the rights of root.
 */
export function createSetprivCommand({
  account,
  capabilities = [],
  parentDeathSignal,
}: Privileges): string[] {
  const kept = ['-all', ...capabilities.map(capability => `+${capability}`)].join(',')
  return [
    'setpriv',
    // The groups of the user include those of devices, such as `video`.
    ...(account ? [`--reuid=${account.name}`, `--regid=${account.gid}`, '--init-groups'] : []),
    `--bounding-set=${kept}`,
    `--inh-caps=${kept}`,
    `--ambient-caps=${kept}`,
    ...(capabilities.includes('dac_read_search') ? [RESPECT_CAPABILITIES] : []),
    '--no-new-privs',
    ...(parentDeathSignal ? [`--pdeathsig=${parentDeathSignal}`] : []),
  ]
}

/** Print the first path that is neither a folder that can be entered nor a file that can be read, or that cannot be written. */
const FIND_CLOSED_PATH = {
  read: `for path; do
    if test -d "$path"; then test -x "$path"; else test -r "$path"; fi || { printf '%s\\n' "$path"; break; }
  done`,
  write: `for path; do test -w "$path" || { printf '%s\\n' "$path"; break; }; done`,
}

/**
 * Returns the first of these paths that a program with these privileges cannot use. Throws an `Error` with the reason if no
 * program can be started with them.
 */
export async function findClosedPath(
  privileges: Privileges,
  use: keyof typeof FIND_CLOSED_PATH,
  paths: readonly string[],
): Promise<string | undefined> {
  const [command = '', ...options] = createSetprivCommand(privileges)
  try {
    const script = ['sh', '-c', FIND_CLOSED_PATH[use], 'sh', ...paths]
    const { stdout } = await promisify(execFile)(command, [...options, ...script], { cwd: '/' })
    return stdout.trimEnd() || undefined
  } catch (cause) {
    const { code, stderr = '' } = cause as { code?: unknown; stderr?: string }
    if (code === 'ENOENT')
      throw new Error('the command setpriv is missing: apt-get install util-linux', { cause })
    throw new Error(stderr.trim().split('\n').at(-1) || (cause as Error).message, { cause })
  }
}
