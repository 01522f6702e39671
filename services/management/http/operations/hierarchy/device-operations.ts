import { randomUUID } from 'node:crypto'
import { REDACTED } from '@eyrie/contract/address'
import { type DeviceStream, managementRoutes } from '@eyrie/contract/management/index'
import { and, eq, notInArray } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { device, deviceStream } from '../../../db/schema/index.ts'
import { findDevices } from '../../../inventory/devices.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { assignMissingNumbers } from '../../api/assign-numbers.ts'
import { defineLookup, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.device

/**
 * API operations on devices, such as cameras, and their streams. Responses contain a placeholder instead of the
 * password of a stream. `transaction_id` changes with every change of a device. `assertChanged` throws if the
 * caller may read a device but not change it.
 */
export function deviceOperations(secrets: Secrets): Operation[] {
  const view = defineLookup(routes.view, async ({ input: { device_id } }, tx) => {
    const [row] = await findDevices(tx, { device_id })
    return row && { ...row, device_sources: row.device_source }
  })

  return [
    defineOperation(routes.create, async ({ input: { device_streams = [], ...fields } }, tx) => {
      const [created] = await tx
        .insert(device)
        .values({ ...fields, transaction_id: randomUUID() })
        .returning()
      const { device_id } = created!
      await setStreams(tx, secrets, device_id, assignMissingNumbers('id', device_streams))
      return { value: { device_id }, created: device_id }
    }),

    defineOperation(routes.update, async ({ input: { device_id, device_streams, ...fields } }, tx) => {
      const values = { ...fields, transaction_id: randomUUID() }
      assertChanged(await tx.update(device).set(values).where(eq(device.device_id, device_id)).returning())
      if (device_streams) await setStreams(tx, secrets, device_id, assignMissingNumbers('id', device_streams))
      return undefined
    }),

    defineOperation(routes.delete, async ({ input: { device_id } }, tx) => {
      assertChanged(await tx.delete(device).where(eq(device.device_id, device_id)).returning())
      return undefined
    }),

    // Both routes return the same data.
    { ...view, route: routes.id },
    view,

    defineOperation(routes.list, async ({ input: { site_id } }, tx) => ({
      value: await findDevices(tx, { site_ids: [site_id] }),
    })),
  ]
}

/** Replaces the streams of a device. Where the password is the placeholder, the stored password remains unchanged. */
async function setStreams(tx: Transaction, secrets: Secrets, device_id: string, streams: DeviceStream[]) {
  const ids = streams.map(({ id }) => id)
  await tx
    .delete(deviceStream)
    .where(and(eq(deviceStream.device_id, device_id), notInArray(deviceStream.id, ids)))
  for (const { password, ...stream } of streams) {
    const passwordColumn = password === REDACTED ? {} : { password: secrets.encrypt(password) }
    const row = { ...stream, device_id, ...passwordColumn }
    await tx
      .insert(deviceStream)
      .values(row)
      .onConflictDoUpdate({ target: [deviceStream.device_id, deviceStream.id], set: row })
  }
}
