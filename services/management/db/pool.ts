import { drizzle } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import { type Transaction, transactionOn } from './session.ts'

/** Connections that are used one at a time, and put aside when they are lost. */
export interface Pool {
  /** Waits for a connection that is free. */
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Ends connections when they are free, but waits at most a second. */
  close(): Promise<void>
}

export interface Connection {
  sql: Sql
  tx: Transaction
}

interface Member extends Connection {
  lost: boolean
}

/** `connect` makes a connection and calls its argument when that is lost. */
export function createPool(most: number, connect: (lost: () => void) => Sql): Pool {
  const members = new Set<Member>()
  const free: Member[] = []
  const waiting: (() => void)[] = []
  let closed = false

  function add(): Member {
    const sql = connect(() => discard(member))
    // Has it read times and JSON as drizzle's columns expect them.
    drizzle(sql)
    const member: Member = { sql, tx: transactionOn(sql), lost: false }
    members.add(member)
    return member
  }

  function discard(member: Member) {
    member.lost = true
    members.delete(member)
    const place = free.indexOf(member)
    if (place >= 0) free.splice(place, 1)
    waiting.shift()?.()
  }

  async function take(): Promise<Member> {
    for (;;) {
      if (closed) throw Object.assign(new Error('the pool is closed'), { code: 'CONNECTION_ENDED' })
      const member = free.pop() ?? (members.size < most ? add() : undefined)
      if (member) return member
      await new Promise<void>(resolve => waiting.push(resolve))
    }
  }

  return {
    async use(work) {
      const member = await take()
      try {
        return await work(member)
      } finally {
        if (!member.lost) {
          free.push(member)
          waiting.shift()?.()
        }
      }
    },
    async close() {
      closed = true
      for (const wake of waiting.splice(0)) wake()
      await Promise.all([...members].map(({ sql }) => sql.end({ timeout: 1 })))
    },
  }
}
