import { randomUUID } from 'node:crypto'
import { REDACTED } from '@eyrie/contract/address'
import { type DeviceStream, managementRoutes } from '@eyrie/contract/management/index'
import { and, eq, notInArray } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { device, deviceStream } from '../../../db/schema/index.ts'
import { findDevices } from '../../../inventory/devices.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { numberItems } from '../../api/item-numbers.ts'
import { lookup, type Operation, operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.device

export function deviceOperations(secrets: Secrets): Operation[] {
  /** Makes a device's streams those that are given; a hidden password stays as it is. */
  async function setStreams(tx: Transaction, device_id: string, streams: DeviceStream[]) {
    const ids = streams.map(({ id }) => id)
    await tx
      .delete(deviceStream)
      .where(and(eq(deviceStream.device_id, device_id), notInArray(deviceStream.id, ids)))
    for (const { password, ...stream } of streams) {
      const kept = password === REDACTED
      const row = { ...stream, device_id, ...(!kept && { password: secrets.seal(password) }) }
      await tx
        .insert(deviceStream)
        .values(row)
        .onConflictDoUpdate({ target: [deviceStream.device_id, deviceStream.id], set: row })
    }
  }

  const view = lookup(routes.view, async ({ input: { device_id } }, tx) => {
    const [found] = await findDevices(tx, { device_id })
    return found && { ...found, device_sources: found.device_source }
  })

  return [
    operation(routes.create, async ({ input: { device_streams = [], ...fields } }, tx) => {
      const [made] = await tx
        .insert(device)
        .values({ ...fields, transaction_id: randomUUID() })
        .returning()
      const { device_id } = made!
      await setStreams(tx, device_id, numberItems('id', device_streams))
      return { value: { device_id }, created: device_id }
    }),

    operation(routes.update, async ({ input: { device_id, device_streams, ...fields } }, tx) => {
      const values = { ...fields, transaction_id: randomUUID() }
      assertChanged(await tx.update(device).set(values).where(eq(device.device_id, device_id)).returning())
      if (device_streams) await setStreams(tx, device_id, numberItems('id', device_streams))
      return undefined
    }),

    operation(routes.delete, async ({ input: { device_id } }, tx) => {
      assertChanged(await tx.delete(device).where(eq(device.device_id, device_id)).returning())
      return undefined
    }),

    { ...view, route: routes.id },
    view,

    operation(routes.list, async ({ input: { site_id } }, tx) => ({
      value: await findDevices(tx, { site_ids: [site_id] }),
    })),
  ]
}
