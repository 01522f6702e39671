import { z } from 'zod'

/** How archives are made; another number is another way. */
export const FORMAT = 1

/** The last entry of a backup: what the others are, by which it is known to be whole. */
export const manifest = z.strictObject({
  format: z.literal(FORMAT, {
    error: 'this release reads backups of another format: use the one that has made it',
  }),
  made_at: z.iso.datetime(),
  /** Of the release that has made it. */
  version: z.string(),
  /** When the newest migration of the database was made, in epoch milliseconds. */
  schema: z.int(),
  /** In any order; rows stand in `database/<name>/<part>`, as COPY writes them. */
  tables: z.array(
    z.strictObject({ name: z.string(), columns: z.array(z.string()), parts: z.int(), rows: z.int() }),
  ),
  /** SHA-256 by the entry's name. */
  entries: z.record(z.string(), z.string()),
})
export type Manifest = z.infer<typeof manifest>

export const MANIFEST = 'manifest.json'

/** Entry of a file of the data folder. */
export const fileEntry = (path: string) => `files/${path}`

export const tableEntry = (name: string, part: number) => `database/${name}/${part}`
