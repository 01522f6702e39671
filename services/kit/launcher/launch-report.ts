import { z } from 'zod'

/** Environment variable in which a program receives the report about its own launch. */
export const REPORT_VARIABLE = 'EYRIE_LAUNCH_REPORT'

const boundary = z.enum([
  'privileges',
  'capabilities',
  'files',
  'truncation',
  'signals',
  'system calls',
])
/** A boundary around a launched program. The kernel or the container may not support it. */
export type Boundary = z.infer<typeof boundary>

const report = z.union([
  z.strictObject({ error: z.string() }),
  z.strictObject({ landlock: z.int().min(0), missing: z.array(boundary) }),
])
/**
 * What the launcher reports: the version of Landlock and the missing boundaries, or why it did
 * not start the program.
 */
export type LaunchReport = z.infer<typeof report>

/** Parses the output of the launcher, one report a line. The last line counts. */
export function parseReport(text: string): LaunchReport {
  const line = text.trimEnd().split('\n').at(-1) ?? ''
  try {
    return report.parse(JSON.parse(line))
  } catch {
    return { error: 'the launcher ended without a report' }
  }
}

/** For each boundary: what a program can do without it, and how to get it. */
const CONSEQUENCES: Record<Boundary, string> = {
  privileges: 'programs may gain privileges: run Linux 3.5 or later',
  capabilities:
    'programs keep capabilities over the files of other users, because the installation, the data folder or a folder with videos is closed to their user: ' +
    'install Eyrie in a folder of its own, let one user own the data folder, and open the folders with videos',
  files:
    'programs may open all files of the user: run Linux 5.13 or later, with landlock in the kernel parameter lsm=',
  truncation: 'programs may empty all files of the user: run Linux 6.2 or later',
  signals: 'programs may signal all processes of the user: run Linux 6.12 or later',
  'system calls':
    'programs may use the network and all system calls: run a kernel with seccomp, in a container whose profile allows it',
}

export const describeMissing = (missing: Boundary): string => CONSEQUENCES[missing]
