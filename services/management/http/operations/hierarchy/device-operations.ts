import { randomUUID } from 'node:crypto'
import { hasSameServer, REDACTED } from '@eyrie/contract/address'
import { type DeviceStream, deviceRoutes } from '@eyrie/contract/management/index'
import { and, eq, notInArray } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { device, deviceStream } from '../../../db/schema/index.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { toStreamUrl } from '../../../fleet/provisioning/source-fields.ts'
import { findDevice, findDevicesOfSites } from '../../../inventory/devices.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { assignMissingNumbers } from '../../api/assign-numbers.ts'
import { defineLookup, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/**
 * API operations on devices, such as cameras, and their streams. Responses contain a placeholder
 * instead of the password of a stream. `transaction_id` changes with every change of a device.
 * `assertChanged` throws if the caller may read a device but not change it.
 */
export function deviceOperations(secrets: Secrets): Operation[] {
  const view = defineLookup(deviceRoutes.view, async ({ input: { device_id: deviceId } }, tx) => {
    const found = await findDevice(tx, deviceId)
    return found && { ...found, device_sources: found.device_source }
  })

  return [
    defineOperation(
      deviceRoutes.create,
      async ({ input: { device_streams: deviceStreams = [], ...fields } }, tx) => {
        const created = firstRow(
          await tx
            .insert(device)
            .values({ ...fields, transaction_id: randomUUID() })
            .returning(),
        )
        const { device_id: deviceId } = created
        await setStreams(tx, secrets, deviceId, assignMissingNumbers('id', deviceStreams))
        return { value: { device_id: deviceId }, createdId: deviceId }
      },
    ),

    defineOperation(
      deviceRoutes.update,
      async ({ input: { device_id: deviceId, device_streams: deviceStreams, ...fields } }, tx) => {
        const values = { ...fields, transaction_id: randomUUID() }
        assertChanged(
          await tx.update(device).set(values).where(eq(device.device_id, deviceId)).returning(),
        )
        if (deviceStreams) {
          await setStreams(tx, secrets, deviceId, assignMissingNumbers('id', deviceStreams))
        }
      },
    ),

    defineOperation(deviceRoutes.delete, async ({ input: { device_id: deviceId } }, tx) => {
      assertChanged(await tx.delete(device).where(eq(device.device_id, deviceId)).returning())
    }),

    // Both routes return the same data.
    { ...view, route: deviceRoutes.get },
    view,

    defineOperation(deviceRoutes.list, async ({ input: { site_id: siteId } }, tx) => ({
      value: await findDevicesOfSites(tx, [siteId]),
    })),
  ]
}

/**
 * Replaces the streams of a device. Where the password is the placeholder, the stored password
 * remains unchanged. Throws `EyrieError` (`syntax`) if there is none, or if it is stored for
 * another scheme, host or port.
 */
async function setStreams(
  tx: Transaction,
  secrets: Secrets,
  deviceId: string,
  streams: DeviceStream[],
) {
  const storedStreams = await tx
    .select()
    .from(deviceStream)
    .where(eq(deviceStream.device_id, deviceId))
  const ids = streams.map(({ id }) => id)
  await tx
    .delete(deviceStream)
    .where(and(eq(deviceStream.device_id, deviceId), notInArray(deviceStream.id, ids)))
  for (const [index, { password, ...stream }] of streams.entries()) {
    const storedStream = storedStreams.find(({ id }) => id === stream.id)
    if (password === REDACTED) {
      assertSameServer(stream, storedStream, `device_streams.${index}.password`)
    }
    const passwordColumn = password === REDACTED ? {} : { password: secrets.encrypt(password) }
    const row = { ...stream, device_id: deviceId, ...passwordColumn }
    await tx
      .insert(deviceStream)
      .values(row)
      .onConflictDoUpdate({ target: [deviceStream.device_id, deviceStream.id], set: row })
  }
}

/**
 * Throws `EyrieError` (`syntax`) at `field` if the password of the stored stream must not be sent
 * to the address of `stream`.
 */
function assertSameServer(
  stream: Omit<DeviceStream, 'password'>,
  stored: typeof deviceStream.$inferSelect | undefined,
  field: string,
): void {
  if (!stored) {
    throw fieldError(
      field,
      `${REDACTED} refers to a stored password, but none is stored: send the password itself`,
    )
  }
  // An omitted port remains as stored.
  const { port = stored.port } = stream
  if (!hasSameServer(toStreamUrl({ ...stream, port }), toStreamUrl(stored))) {
    throw fieldError(
      field,
      `${REDACTED} refers to a password that is stored for another protocol, host or port: send the password itself`,
    )
  }
}
