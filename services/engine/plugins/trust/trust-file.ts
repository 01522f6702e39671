import { pluginTrust } from '@eyrie/contract'
import { writeDurably } from '@eyrie/kit/durable-file'
import { readJsonFile } from '@eyrie/kit/json-file'
import type { Log } from '@eyrie/kit/log'
import type { z } from 'zod'

/** The publishers and exceptions, as the owner has chosen them. */
const trustRecords = pluginTrust.pick({ publishers: true, exceptions: true })
export type TrustRecords = z.infer<typeof trustRecords>

/** The file in which the choices of the owner are stored. */
export interface TrustFile {
  records(): TrustRecords
  /**
   * Returns the alarm that the file is damaged, with the remedy; undefined if the file is intact.
   */
  findDamage(): string | undefined
  save(records: TrustRecords): Promise<void>
}

export function openTrustFile(file: string, log: Log): TrustFile {
  let records: TrustRecords = { publishers: [], exceptions: [] }
  let damage: string | undefined
  try {
    records = readJsonFile(file, trustRecords) ?? records
  } catch (error) {
    const reason = (error as Error).message
    log.error({ file, reason }, 'failed to read trusted publishers of plugins')
    damage =
      `${file} is damaged, so that no publisher of plugins is trusted: restore it from a backup, ` +
      'or trust the publishers again with eyrie plugin trust'
  }

  return {
    records: () => records,
    findDamage: () => damage,
    save: async next => {
      await writeDurably(file, `${JSON.stringify(next, null, 2)}\n`)
      records = next
      damage = undefined
    },
  }
}
