import { z } from 'zod'

/** Signatures of plugin packages, and the publishers that sign them. */

/**
 * The public Ed25519 key of a publisher. Hexadecimal digits have a single form, and are safe in
 * paths and on command lines.
 */
export const publisherKey = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be an Ed25519 public key: 64 hexadecimal digits in lower case')
  .meta({ description: 'Public Ed25519 key of the publisher, 64 hexadecimal digits' })

/**
 * A character that is visible: neither a space nor one that controls text, or that Unicode leaves
 * without a glyph. U+2800 is a braille pattern without dots.
 */
const VISIBLE = '[^\\s\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\u2800]'

/** The name of a publisher. No two names look equal because of spaces or invisible characters. */
export const publisherName = z
  .string()
  .max(100)
  .regex(
    new RegExp(`^${VISIBLE}+(?: ${VISIBLE}+)*$`, 'u'),
    'must be words of visible characters, with single spaces',
  )
  .refine(name => name.isWellFormed(), 'must be valid Unicode')

export const publisherState = z.enum(['trusted', 'distrusted'])

/** The signature of an uploaded plugin version. */
export const versionSignature = z
  .strictObject({
    state: z.enum(['signed', 'unsigned']),
    publisher: z.string().optional().meta({
      description: 'Name of the publisher if its key is known; otherwise the name in the package',
    }),
    key: publisherKey.optional(),
    trust: z
      .enum(['trusted', 'distrusted', 'unknown'])
      .optional()
      .meta({ description: 'Whether the owner of the engine trusts the key' }),
    refused: z
      .string()
      .optional()
      .meta({ description: 'Why this version does not start, with the remedy' }),
  })
  .meta({ id: 'PluginSignature' })
export type VersionSignature = z.infer<typeof versionSignature>
