import { isUnreachable, reasonOf } from './failure.ts'

/** What to do where a database of the owner's cannot be reached or used, by SQLSTATE (Postgres, appendix A). */
const remedies: Record<string, string> = {
  28000: 'correct DATABASE_URL, or let that user in from this machine (pg_hba.conf)',
  '28P01': 'correct the user and the password in DATABASE_URL',
  '3D000': 'make it (createdb), or correct DATABASE_URL',
  42501: 'the user in DATABASE_URL has to own the database and all that is in it (reassign owned by … to …)',
  53300: 'raise max_connections of the server: Eyrie takes up to twelve',
}

/** What is wrong with a database, and where it is the owner's, at a URL, what to do. */
export function explain(error: unknown, url: string | undefined): string {
  const cause = reasonOf(error)
  if (url === undefined) return cause.message
  const remedy =
    remedies[(cause as NodeJS.ErrnoException).code ?? ''] ??
    (isUnreachable(error) ? 'see whether Postgres runs there, and whether DATABASE_URL is right' : undefined)
  return remedy ? `${cause.message}: ${remedy}` : cause.message
}
