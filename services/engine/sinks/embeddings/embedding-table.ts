import postgres, { type Sql } from 'postgres'
import type { EmbeddingRecord } from './embedding-record.ts'
import type { TableAddress } from './table-address.ts'

const CONNECT_S = 5
const STATEMENT_MS = 10_000

/** Vectors in a table of somebody's database, which is made where there is none. */
export class EmbeddingTable {
  readonly #sql: Sql
  readonly #table: string
  #ready: Promise<void> | undefined
  #isVector = false

  constructor({ table, ssl, ...address }: TableAddress) {
    this.#table = table
    this.#sql = postgres({
      ...address,
      ssl: ssl === 'disable' ? false : ssl,
      max: 1,
      connect_timeout: CONNECT_S,
      // Values go as text, whatever type their column has.
      fetch_types: false,
      onnotice: () => {},
      connection: { application_name: 'eyrie', statement_timeout: STATEMENT_MS },
    })
  }

  /** Writes all or none of them. */
  async insert(records: readonly EmbeddingRecord[]): Promise<void> {
    this.#ready ??= this.#create()
    await this.#ready.catch(error => {
      this.#ready = undefined
      throw error
    })
    const rows = records.map(record => this.#rowOf(record))
    await this.#sql`insert into ${this.#sql(this.#table)} ${this.#sql(rows)}`.catch(error => {
      // Somebody may have dropped it.
      this.#ready = undefined
      throw error
    })
  }

  async close(withinS: number): Promise<void> {
    await this.#sql.end({ timeout: withinS })
  }

  async #create(): Promise<void> {
    const sql = this.#sql
    const embedding = (await this.#hasVectors()) ? sql`vector` : sql`real[]`
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
    this.#isVector = column?.type === 'vector'
  }

  /** Whether pgvector is there; it is switched on where this user may do so. */
  async #hasVectors(): Promise<boolean> {
    const sql = this.#sql
    const [offered] = await sql`select installed_version from pg_available_extensions where name = 'vector'`
    if (!offered) return false
    if (offered.installed_version) return true
    return sql`create extension if not exists vector`.then(
      () => true,
      () => false,
    )
  }

  /** `[1,2]` is how pgvector writes a vector, `{1,2}` how Postgres writes an array; a column takes its own. */
  #rowOf({ bbox: { x, y, w, h }, embedding, ...rest }: EmbeddingRecord) {
    const numbers = embedding.join()
    return {
      ...rest,
      bbox: `{${[x, y, w, h].join()}}`,
      embedding: this.#isVector ? `[${numbers}]` : `{${numbers}}`,
    }
  }
}
