import postgres, { type Sql } from 'postgres'
import type { EmbeddingRecord } from './embedding-record.ts'
import type { TableAddress } from './table-address.ts'

const CONNECT_S = 5
const STATEMENT_MS = 10_000

/** A table of embeddings in a Postgres database. It is created if it does not exist. */
export class EmbeddingTable {
  readonly #sql: Sql
  readonly #table: string
  #created: Promise<void> | undefined
  #isPgvector = false

  constructor({ table, ssl, ...address }: TableAddress) {
    this.#table = table
    this.#sql = postgres({
      ...address,
      ssl: ssl === 'disable' ? false : ssl,
      max: 1,
      connect_timeout: CONNECT_S,
      // Values are sent as text regardless of the column type.
      fetch_types: false,
      onnotice: () => {},
      connection: { application_name: 'eyrie', statement_timeout: STATEMENT_MS },
    })
  }

  /** Inserts all records, or none if it throws. */
  async insert(records: readonly EmbeddingRecord[]): Promise<void> {
    this.#created ??= this.#create()
    await this.#created.catch(error => {
      this.#created = undefined
      throw error
    })
    const rows = records.map(record => this.#toRow(record))
    await this.#sql`insert into ${this.#sql(this.#table)} ${this.#sql(rows)}`.catch(error => {
      // The table may have been dropped.
      this.#created = undefined
      throw error
    })
  }

  async close(timeoutS: number): Promise<void> {
    await this.#sql.end({ timeout: timeoutS })
  }

  async #create(): Promise<void> {
    const sql = this.#sql
    const embedding = (await this.#enablePgvector()) ? sql`vector` : sql`real[]`
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
        embedding ${embedding} not null
      )`
    const [column] = await sql`
      select udt_name as type from information_schema.columns
      where table_schema = current_schema() and table_name = ${this.#table} and column_name = 'embedding'`
    this.#isPgvector = column?.type === 'vector'
  }

  /** Returns whether pgvector is available. Creates the extension if this user has the privilege. */
  async #enablePgvector(): Promise<boolean> {
    const sql = this.#sql
    const [extension] = await sql`select installed_version from pg_available_extensions where name = 'vector'`
    if (!extension) return false
    if (extension.installed_version) return true
    return sql`create extension if not exists vector`.then(
      () => true,
      () => false,
    )
  }

  /** pgvector's syntax is `[1,2]`, that of Postgres arrays is `{1,2}`. */
  #toRow({ bbox: { x, y, w, h }, embedding, ...rest }: EmbeddingRecord) {
    const numbers = embedding.join()
    return {
      ...rest,
      bbox: `{${[x, y, w, h].join()}}`,
      embedding: this.#isPgvector ? `[${numbers}]` : `{${numbers}}`,
    }
  }
}
