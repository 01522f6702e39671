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
import { encryptAddress } from '../../../inventory/stored-addresses.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { assignMissingNumbers } from '../../api/assign-numbers.ts'
import { defineLookup, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/**
 * API operations on devices, such as cameras, and their streams. In responses, a placeholder
 * replaces the password of a stream and every password in the address of the stream. A client that
 * sends the placeholder back leaves the password unchanged. `transaction_id` changes with every
 * change of a device. `assertChanged` throws if the caller may read a device but not change it.
 */
export function deviceOperations(secrets: Secrets): Operation[] {
  const view = defineLookup(deviceRoutes.view, async ({ input }, tx) => {
    const found = await findDevice(tx, input.device_id)
    // The API has two names for the list of sources.
    return found && { ...found, device_sources: found.device_source }
  })

  return [
    defineOperation(deviceRoutes.create, async ({ input }, tx) => {
      const { device_streams: streams = [], ...fields } = input
      const values = { ...fields, transaction_id: randomUUID() }
      const { device_id } = firstRow(await tx.insert(device).values(values).returning())
      await setStreams(tx, secrets, { device_id, streams: assignMissingNumbers('id', streams) })
      return { value: { device_id }, createdId: device_id }
    }),

    defineOperation(deviceRoutes.update, async ({ input }, tx) => {
      const { device_id, device_streams: streams, ...fields } = input
      const values = { ...fields, transaction_id: randomUUID() }
      assertChanged(
        await tx.update(device).set(values).where(eq(device.device_id, device_id)).returning(),
      )
      if (streams) {
        await setStreams(tx, secrets, { device_id, streams: assignMissingNumbers('id', streams) })
      }
    }),

    defineOperation(deviceRoutes.delete, async ({ input }, tx) => {
      assertChanged(
        await tx.delete(device).where(eq(device.device_id, input.device_id)).returning(),
      )
    }),

    // Both routes return the same data.
    { ...view, route: deviceRoutes.get },
    view,

    defineOperation(deviceRoutes.list, async ({ input }, tx) => ({
      value: await findDevicesOfSites(tx, [input.site_id]),
    })),
  ]
}

/**
 * Replaces the streams of a device. A placeholder keeps the stored password. Throws `EyrieError`
 * (`syntax`) if no password is stored for the stream, or if it is stored for another server.
 */
async function setStreams(
  tx: Transaction,
  secrets: Secrets,
  { device_id, streams }: { device_id: string; streams: readonly DeviceStream[] },
): Promise<void> {
  const deviceCondition = eq(deviceStream.device_id, device_id)
  const storedStreams = await tx.select().from(deviceStream).where(deviceCondition)
  const ids = streams.map(({ id }) => id)
  await tx.delete(deviceStream).where(and(deviceCondition, notInArray(deviceStream.id, ids)))

  for (const [index, { password, ...stream }] of streams.entries()) {
    const field = `device_streams.${index}`
    const stored = storedStreams.find(({ id }) => id === stream.id)
    const change = {
      address: stream.address,
      stored: stored?.address,
      hasSameServer: stored !== undefined && isSameServer(stream, stored),
      field: `${field}.address`,
    }
    const row: typeof deviceStream.$inferInsert = {
      ...stream,
      device_id,
      address: encryptAddress(change, secrets),
    }
    if (password === REDACTED) {
      assertPasswordReusable(stream, stored, `${field}.password`)
    } else {
      row.password = secrets.encrypt(password)
    }
    await tx
      .insert(deviceStream)
      .values(row)
      .onConflictDoUpdate({ target: [deviceStream.device_id, deviceStream.id], set: row })
  }
}

/**
 * Throws `EyrieError` (`syntax`) at `field` unless a password is stored for the stream, and for the
 * same scheme, host and port. Otherwise a client could direct the password of a camera to a server
 * of its own.
 */
function assertPasswordReusable(
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
  if (!isSameServer(stream, stored)) {
    throw fieldError(
      field,
      `${REDACTED} refers to a password that is stored for another protocol, host or port: send the password itself`,
    )
  }
}

/** Whether a changed stream has the same scheme, host and port as the stored one. */
function isSameServer(
  stream: Omit<DeviceStream, 'password'>,
  stored: typeof deviceStream.$inferSelect,
): boolean {
  // An omitted port remains as stored.
  const { port = stored.port } = stream
  return hasSameServer(toStreamUrl({ ...stream, port }), toStreamUrl(stored))
}
