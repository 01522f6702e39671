import { z } from 'zod'

/**
 * Licenses. An engine accepts a deployment of its configuration only while it is
 * activated with a license.
 */

const licenseText = z.string().min(1).max(200)

/**
 * A license. Its fields identify an entry in the file of licenses that the issuer has signed, or
 * the community license.
 */
export const license = z
  .strictObject({
    version: z.literal(1),
    customer: licenseText,
    subscription: licenseText,
    pool: licenseText,
  })
  .meta({ id: 'License' })
export type License = z.infer<typeof license>

/** The built-in license, which is always valid. */
export const COMMUNITY_LICENSE: License = {
  version: 1,
  customer: 'community',
  subscription: 'community',
  pool: 'community',
}

/** Activation status of an engine. */
export const activation = z
  .strictObject({
    activated: z.boolean(),
    activated_at: z.iso.datetime().optional(),
    license: license.optional(),
  })
  .meta({ id: 'Activation' })
export type Activation = z.infer<typeof activation>
