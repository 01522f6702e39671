import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { type Account, accountFor, type Runner, runAs } from './account.ts'
import type { Program } from './program.ts'

/** The folder that a server keeps its databases in, and who runs it. */
export interface Cluster {
  data: string
  hba: string
  ident: string
  runner: Runner
}

/** Name of the superuser, whom only the server's own set-up and upkeep connect as. */
export const superuser = 'postgres'

/** Makes the data folder inside of `folder` where there is none yet. Throws if another major version has made it. */
export async function prepareCluster(
  folder: string,
  program: Program,
  ending?: AbortSignal,
): Promise<Cluster> {
  const data = join(folder, 'data')
  const account = accountFor(data)
  const itself = account.uid === userInfo().uid
  chmodSync(folder, itself ? 0o700 : 0o711)
  const access = writeAccess(folder)
  const runner = await runAs(account, [program.postgres, access.hba])
  if (existsSync(data)) refuseOtherVersion(data, program)
  else await initialise({ folder, data, account, program, runner, ending })
  return { data, runner, ...access }
}

/**
 * Lets in the user that this process runs as, and nobody else, by what the kernel says of the other end of the socket.
 * The files are this process's own: in the data folder root would write where another account can lay links.
 */
function writeAccess(folder: string): { hba: string; ident: string } {
  const hba = join(folder, 'hba.conf')
  const ident = join(folder, 'ident.conf')
  const name = JSON.stringify(userInfo().username)
  writeFileSync(hba, 'local all all peer map=management\n', { mode: 0o644 })
  writeFileSync(ident, `management ${name} all\n`, { mode: 0o644 })
  return { hba, ident }
}

interface Initialising {
  folder: string
  data: string
  account: Account
  program: Program
  runner: Runner
  ending: AbortSignal | undefined
}

/** Under another name first, so that a crash leaves nothing half. */
async function initialise({ folder, data, account, program, runner, ending }: Initialising): Promise<void> {
  const draft = join(folder, 'data.new')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  if (userInfo().uid !== account.uid) chownSync(draft, account.uid, account.gid)
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8']
  const rest = [`--username=${superuser}`, '--auth=peer', '--no-instructions']
  await runner.run(program.initdb, ['-D', draft, ...locale, ...rest], ending)
  renameSync(draft, data)
}

function refuseOtherVersion(data: string, { major }: Program): void {
  const made = Number(readFileSync(join(data, 'PG_VERSION'), 'utf8'))
  if (made === major) return
  throw new Error(
    `the database in ${data} was made by Postgres ${made}, and this release brings ${major}: with the release before, write ` +
      'a backup (./eyrie backup), then move that folder away, start this release and restore the backup (./eyrie restore)',
  )
}
