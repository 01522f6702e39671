import { join } from 'node:path'
import type { Role } from './service-accounts.ts'

/** A user and a group of the machine. */
export interface Owner {
  uid: number
  gid: number
}

/** The users to which a data folder belongs. */
export interface DataOwners {
  /**
   * The owner of folders that all services use: root, and the group of the services if each of them
   * has a user of its own. Otherwise the group of root.
   */
  shared: Owner
  /** The owner of the folders of each service, and of the database. */
  roles: Readonly<Record<Role, Owner>>
}

/** A folder in the data folder, or the data folder itself, with its owner. */
export interface OwnedFolder {
  path: string
  owner: Owner
  mode: number
  /**
   * Returns the owner of an entry in the folder, and of everything below that entry. If undefined,
   * entries keep their owners.
   */
  findEntryOwner?: (name: string) => Owner
}

/**
 * The secrets that a service creates. All other secrets belong to the supervisor,
 * which passes them on.
 */
const SECRET_OWNERS = new Map<string, Role>([
  ['engine-key', 'engine'],
  ['management-key', 'management'],
  ['signing-key.pem', 'management'],
  ['operator-token', 'management'],
  ['admin', 'management'],
])

/** The folders that belong to a single service. */
const ROLE_FOLDERS: readonly { name: string; role: Role; mode: number }[] = [
  // Readable for the engine, which resolves the links in the path of a video.
  { name: 'media', role: 'media', mode: 0o750 },
  { name: 'recordings', role: 'media', mode: 0o700 },
  // The registry of GStreamer.
  { name: 'gstreamer', role: 'media', mode: 0o700 },
  { name: 'engine', role: 'engine', mode: 0o700 },
  // Media connects to the sockets that sinks create here.
  { name: 'output', role: 'engine', mode: 0o750 },
  { name: 'models', role: 'engine', mode: 0o700 },
  { name: 'plugins', role: 'engine', mode: 0o700 },
  { name: 'management', role: 'management', mode: 0o700 },
]

/** Returns the home folder of a service, in which libraries store their caches. */
export const getHome = (data: string, role: Role) => join(data, 'home', role)

/** Returns the folder that contains the socket of the database server. */
export const getDatabaseSocketFolder = (data: string) => join(data, 'postgres/socket')

/**
 * Returns the folders of a data folder with their owners, each after the folder that contains it.
 */
export function listOwnedFolders(data: string, { shared, roles }: DataOwners): OwnedFolder[] {
  const isSeparated = shared.gid !== 0
  const root: Owner = { uid: shared.uid, gid: 0 }
  /** The database server, with a group through which services reach its socket. */
  const sharedDatabase: Owner = { uid: roles.database.uid, gid: shared.gid }
  return [
    // Services may enter the folder, but not list it. Without separation, the database server still
    // has a user of its own, which is not in the group.
    { path: data, owner: shared, mode: isSeparated ? 0o710 : 0o711 },
    {
      path: join(data, 'secrets'),
      owner: shared,
      // Services create secrets. The sticky bit lets them delete and replace only their own.
      mode: isSeparated ? 0o1770 : 0o700,
      findEntryOwner: name => {
        const role = SECRET_OWNERS.get(name)
        return role ? roles[role] : root
      },
    },
    { path: join(data, 'home'), owner: shared, mode: 0o710 },
    ...(Object.keys(roles) as Role[]).map(role =>
      ownFolder(getHome(data, role), roles[role], 0o700),
    ),
    // Media executes what root installs here.
    { path: join(data, 'mediasoup-worker'), owner: shared, mode: 0o750 },
    ...ROLE_FOLDERS.map(({ name, role, mode }) => ownFolder(join(data, name), roles[role], mode)),
    {
      path: join(data, 'postgres'),
      owner: sharedDatabase,
      mode: 0o711,
      findEntryOwner: name => (name === 'socket' ? sharedDatabase : roles.database),
    },
    {
      path: getDatabaseSocketFolder(data),
      owner: sharedDatabase,
      // Services connect to the socket. The server admits management and root only.
      mode: 0o750,
    },
  ]
}

/** Describes a folder that belongs to one user, with everything in it. */
function ownFolder(path: string, owner: Owner, mode: number): OwnedFolder {
  return { path, owner, mode, findEntryOwner: () => owner }
}
