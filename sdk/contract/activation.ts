import { z } from 'zod'

export const license = z
  .strictObject({
    version: z.literal(1),
    customer: z.string().min(1).max(200),
    subscription: z.string().min(1).max(200),
    pool: z.string().min(1).max(200),
  })
  .meta({ id: 'License' })
export type License = z.infer<typeof license>

/** The built-in license, which is always valid. */
export const communityLicense: License = {
  version: 1,
  customer: 'community',
  subscription: 'community',
  pool: 'community',
}

export const activation = z
  .strictObject({
    activated: z.boolean(),
    activated_at: z.iso.datetime().optional(),
    license: license.optional(),
  })
  .meta({ id: 'Activation' })
export type Activation = z.infer<typeof activation>
