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
import { type Account, type CommandRunner, chooseAccount, createCommandRunner } from './account.ts'
import type { Binaries } from './binaries.ts'

/** The data directory of a Postgres server, which is ready for the server to start. */
export interface DataDirectory {
  path: string
  /** Path of the access rules (`hba_file`). */
  hbaFile: string
  /** Path of the mapping from operating system users to roles (`ident_file`). */
  identFile: string
  /** Folder of the server's socket. */
  socketFolder: string
  /** Whether other users of the machine connect to the server. */
  isShared: boolean
  /** Runs commands as the owner of the directory. */
  runner: CommandRunner
}

/** A user of the machine that connects as one role. */
export interface DatabaseClient {
  user: string
  role: string
}

/** The server's superuser role. Only setup and maintenance connect as this role. */
export const SUPERUSER = 'postgres'

/**
 * Returns the data directory inside `folder`, which is initialized if it does not exist. With
 * `clients`, other users connect to the server, in the folder `socket`. Throws if the directory was
 * created by another major version of Postgres.
 */
export async function prepareDataDirectory(
  folder: string,
  binaries: Binaries,
  clients?: readonly DatabaseClient[],
  signal?: AbortSignal,
): Promise<DataDirectory> {
  const path = join(folder, 'data')
  const isShared = clients !== undefined
  const account = chooseAccount(path)
  const isOwnAccount = account.uid === userInfo().uid
  // Other accounts have to enter the folder, but not to list it.
  chmodSync(folder, isOwnAccount && !isShared ? 0o700 : 0o711)
  const accessFiles = writeAccessFiles(folder, clients)
  const runner = await createCommandRunner(account, [binaries.postgres, accessFiles.hbaFile])
  if (existsSync(path)) {
    assertSameMajorVersion(path, binaries)
  } else {
    const draft = createDraftFolder(folder, account)
    await initialize(draft, binaries, runner, signal)
    renameSync(draft, path)
  }
  return {
    path,
    runner,
    socketFolder: isShared ? join(folder, 'socket') : path,
    isShared,
    ...accessFiles,
  }
}

/**
 * Writes access rules that admit the user of this process and the clients, by peer authentication.
 * The files are outside the data directory, because the server's account could place links there
 * that this process would follow as root.
 */
function writeAccessFiles(
  folder: string,
  clients: readonly DatabaseClient[] | undefined,
): { hbaFile: string; identFile: string } {
  const hbaFile = join(folder, 'hba.conf')
  const identFile = join(folder, 'ident.conf')
  const administrators = new Set([userInfo().username, ...(clients ? ['root'] : [])])
  const mappings = [
    ...Array.from(administrators, (user): DatabaseClient => ({ user, role: 'all' })),
    ...(clients ?? []),
  ]
  // The map `management` says which users of the machine may connect as which roles. Names of users
  // are in double quotes, because they may contain special characters.
  const identLines = mappings.map(
    ({ user, role }) => `management ${JSON.stringify(user)} ${role}\n`,
  )
  replaceFile(hbaFile, 'local all all peer map=management\n')
  replaceFile(identFile, identLines.join(''))
  return { hbaFile, identFile }
}

/**
 * Writes a file without following a link: the folder may belong to the account of the server, and
 * this process to root.
 */
function replaceFile(path: string, content: string): void {
  rmSync(path, { force: true })
  writeFileSync(path, content, { flag: 'wx', mode: 0o644 })
}

/**
 * Creates an empty folder for initdb. It is renamed afterwards, so that a crash leaves no
 * incomplete data directory.
 */
function createDraftFolder(folder: string, account: Account): string {
  const draft = join(folder, 'data.new')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  if (userInfo().uid !== account.uid) chownSync(draft, account.uid, account.gid)
  return draft
}

async function initialize(
  draft: string,
  binaries: Binaries,
  runner: CommandRunner,
  signal: AbortSignal | undefined,
): Promise<void> {
  const locale = [
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--encoding=UTF8',
  ]
  const login = [`--username=${SUPERUSER}`, '--auth=peer', '--no-instructions']
  await runner.run(binaries.initdb, ['-D', draft, ...locale, ...login], signal)
}

function assertSameMajorVersion(path: string, { majorVersion }: Binaries): void {
  const dataVersion = Number(readFileSync(join(path, 'PG_VERSION'), 'utf8'))
  if (dataVersion === majorVersion) return
  throw new Error(
    `the database in ${path} was created by Postgres ${dataVersion}, but this release contains Postgres ${majorVersion}: ` +
      'start the previous release and create a backup (./eyrie backup); then move the folder to another place, start this ' +
      'release and restore the backup (./eyrie restore)',
  )
}
