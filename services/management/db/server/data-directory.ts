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
import { type Account, type CommandRunner, chooseAccount, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'

/** The data directory of a server, its access rules, and how commands are run as its owner. */
export interface DataDirectory {
  path: string
  /** Paths of the files that `hba_file` and `ident_file` name. */
  hba: string
  ident: string
  runner: CommandRunner
}

/** The superuser of the server. Only setup and maintenance connect as this role. */
export const superuser = 'postgres'

/** Initializes the data directory inside `folder` unless it exists. Throws if another major version created it. */
export async function prepareDataDirectory(
  folder: string,
  binaries: Binaries,
  signal?: AbortSignal,
): Promise<DataDirectory> {
  const path = join(folder, 'data')
  const account = chooseAccount(path)
  const isOwnAccount = account.uid === userInfo().uid
  chmodSync(folder, isOwnAccount ? 0o700 : 0o711)
  const accessFiles = writeAccessFiles(folder)
  const runner = await runAs(account, [binaries.postgres, accessFiles.hba])
  if (existsSync(path)) assertSameMajorVersion(path, binaries)
  else await initialize({ folder, path, account, binaries, runner, signal })
  return { path, runner, ...accessFiles }
}

/**
 * Allows connections of the user that this process runs as, and of no other, by peer authentication. The files are owned by
 * this process: in the data directory, root would write through links that the server's account may have created.
 */
function writeAccessFiles(folder: string): { hba: string; ident: string } {
  const hba = join(folder, 'hba.conf')
  const ident = join(folder, 'ident.conf')
  const name = JSON.stringify(userInfo().username)
  writeFileSync(hba, 'local all all peer map=management\n', { mode: 0o644 })
  writeFileSync(ident, `management ${name} all\n`, { mode: 0o644 })
  return { hba, ident }
}

interface Initialization {
  folder: string
  path: string
  account: Account
  binaries: Binaries
  runner: CommandRunner
  signal: AbortSignal | undefined
}

/** Runs initdb under a temporary name, so that a crash leaves no incomplete data directory. */
async function initialize({
  folder,
  path,
  account,
  binaries,
  runner,
  signal,
}: Initialization): Promise<void> {
  const draft = join(folder, 'data.new')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  if (userInfo().uid !== account.uid) chownSync(draft, account.uid, account.gid)
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8']
  const login = [`--username=${superuser}`, '--auth=peer', '--no-instructions']
  await runner.run(binaries.initdb, ['-D', draft, ...locale, ...login], signal)
  renameSync(draft, path)
}

function assertSameMajorVersion(path: string, { major }: Binaries): void {
  const actual = Number(readFileSync(join(path, 'PG_VERSION'), 'utf8'))
  if (actual === major) return
  throw new Error(
    `the database in ${path} was created by Postgres ${actual}, but this release contains Postgres ${major}: start the ` +
      'previous release and create a backup (./eyrie backup), then move that folder away, start this release and restore ' +
      'the backup (./eyrie restore)',
  )
}
