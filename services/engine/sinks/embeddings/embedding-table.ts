import type { Egress } from '@eyrie/kit'
import postgres, { type Sql } from 'postgres'
import type { EmbeddingRecord } from './embedding-record.ts'
import type { TableAddress } from './table-address.ts'

const CONNECT_TIMEOUT_S = 5
const STATEMENT_TIMEOUT_MS = 10_000

/**
 * A table of embeddings (vectors that describe the appearance of objects) in a Postgres database.
 * It is created if it does not exist, with vectors of the type `vector` if the extension pgvector
 * is available, or else as arrays.
 */
export class EmbeddingTable {
  readonly #sql: Sql
  readonly #table: string
  /** Resolves when the table exists; undefined if it must be created before the next insert. */
  #created: Promise<void> | undefined
  /** Whether the vectors have the type of pgvector, which depends on how the table was created. */
  #isPgvector = false

  constructor({ table, ssl, ...address }: TableAddress, egress: Egress) {
    this.#table = table
    this.#sql = postgres({
      ...address,
      ssl: ssl === 'disable' ? false : ssl,
      max: 1,
      ...openThrough(egress, address),
      connect_timeout: CONNECT_TIMEOUT_S,
      // Types are not needed, because all values are sent as text.
      fetch_types: false,
      onnotice: () => {},
      connection: { application_name: 'eyrie', statement_timeout: STATEMENT_TIMEOUT_MS },
    })
  }

  /** Inserts all records. If it throws, it has inserted none. */
  async insert(records: readonly EmbeddingRecord[]): Promise<void> {
    this.#created ??= this.#create()
    await this.#created.catch(error => {
      this.#created = undefined
      throw error
    })

    const rows = records.map(record => this.#toRow(record))
    await this.#sql`insert into ${this.#sql(this.#table)} ${this.#sql(rows)}`.catch(error => {
      // The table may have been dropped: the next insert creates it again.
      this.#created = undefined
      throw error
    })
  }

  async close(timeoutS: number): Promise<void> {
    await this.#sql.end({ timeout: timeoutS })
  }

  async #create(): Promise<void> {
    const sql = this.#sql
    const embeddingType = (await this.#enablePgvector()) ? sql`vector` : sql`real[]`
    await sql`
      create table if not exists ${sql(this.#table)} (
        id bigint generated always as identity primary key,
        channel integer not null,
        source integer not null,
        pts bigint not null,
        time timestamptz not null,
        track bigint,
        class text not null,
        bbox real[] not null,
        embedding ${embeddingType} not null
      )`

    // An existing table may have another type than a new one.
    const [column] = await sql`
      select udt_name as type from information_schema.columns
      where table_schema = current_schema() and table_name = ${this.#table} and column_name = 'embedding'`
    this.#isPgvector = column?.type === 'vector'
  }

  /**
   * Creates the extension pgvector if necessary. Returns false if it is unavailable, or if the user
   * lacks the privilege.
   */
  async #enablePgvector(): Promise<boolean> {
    const sql = this.#sql
    const [extension] =
      await sql`select installed_version from pg_available_extensions where name = 'vector'`
    if (!extension) return false
    if (extension.installed_version) return true
    try {
      await sql`create extension if not exists vector`
      return true
    } catch {
      return false
    }
  }

  /** A vector has the syntax `[1,2]` in pgvector and `{1,2}` in Postgres arrays. */
  #toRow({ bbox, embedding, ...otherColumns }: EmbeddingRecord) {
    const { x, y, w, h } = bbox
    const numbers = embedding.join(',')
    return {
      ...otherColumns,
      bbox: `{${x},${y},${w},${h}}`,
      embedding: this.#isPgvector ? `[${numbers}]` : `{${numbers}}`,
    }
  }
}

/**
 * Returns the option `socket`, with which the library opens connections through the egress. The
 * types of the library lack this option.
 */
function openThrough(egress: Egress, { host, port }: { host: string; port: number }): object {
  // Returns a socket at once, because the library does not recover from a rejected
  // promise. The library reads the name that the certificate must contain from the
  // property `host` of the socket.
  return { socket: () => Object.assign(egress.open({ host, port }), { host, port }) }
}
