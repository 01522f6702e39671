import postgres from 'postgres'

/** What the database has said of a query that failed, whoever has wrapped it. */
export function databaseError(error: unknown): postgres.PostgresError | undefined {
  for (let it: unknown = error; it instanceof Error; it = it.cause) {
    if (it instanceof postgres.PostgresError) return it
  }
  return undefined
}

/** Whether the same work may succeed when it is done once more: it met other work that came first. */
export function isConflict(error: unknown): boolean {
  const code = databaseError(error)?.code
  return code === '40001' || code === '40P01'
}

/** Codes of connections that could not be made or were lost: of the system, of postgres.js and of the server. */
const lost = [
  /^E(CONNREFUSED|CONNRESET|NOENT|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND)$/,
  /^CONNECT(ION)?_/,
  /^(08...|57P0.|53300)$/,
]

/** Whether there was no database to ask. */
export function isUnreachable(error: unknown): boolean {
  for (let it: unknown = error; it instanceof Error; it = it.cause) {
    const { code } = it as NodeJS.ErrnoException
    if (code !== undefined && lost.some(pattern => pattern.test(code))) return true
  }
  return false
}
