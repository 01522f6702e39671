import { spawnSync } from 'node:child_process'

/** A user of the machine. */
export interface Account {
  name: string
  uid: number
  /** Its primary group. */
  gid: number
}

/** Looks up a user of the machine by name. */
export function findAccount(name: string): Account | undefined {
  const [, , uid, gid] = findEntry('passwd', name)
  return uid && gid ? { name, uid: Number(uid), gid: Number(gid) } : undefined
}

/** Looks up a user of the machine by id. Its name is the id if the user has been deleted. */
export function findAccountById(uid: number): Account {
  const [name = String(uid), , , gid = String(uid)] = findEntry('passwd', String(uid))
  return { name, uid, gid: Number(gid) }
}

/** Returns the id of a group. */
export function findGroup(name: string): number | undefined {
  const [, , gid] = findEntry('group', name)
  return gid ? Number(gid) : undefined
}

/**
 * Returns the fields of an entry, such as `name:password:uid:gid:…` (passwd(5)), or nothing
 * if it does not exist. getent(1) also finds users that are not in the file, such as those
 * of a directory server.
 */
function findEntry(database: 'passwd' | 'group', key: string): string[] {
  const { stdout } = spawnSync('getent', [database, key], { encoding: 'utf8' })
  return stdout ? stdout.trimEnd().split(':') : []
}
