import { z } from 'zod'
import { pluginName } from './plugin.ts'
import { publisherKey, publisherName, publisherState } from './plugin-signature.ts'

/**
 * Which plugin packages an engine accepts: the publishers that its owner trusts, and exceptions by
 * name.
 */

/** A publisher that the owner trusts, or no longer trusts. */
export const publisher = z
  .strictObject({
    key: publisherKey,
    name: publisherName.meta({
      description:
        'Keys with the same name belong to the same publisher, such as its old and its new key',
    }),
    state: publisherState.meta({
      description: 'trusted: its packages are installed and run; distrusted: none of them is',
    }),
    since: z.iso.datetime().meta({ description: 'When the state was set' }),
  })
  .meta({ id: 'PluginPublisher' })
export type Publisher = z.infer<typeof publisher>

/** Request body that trusts or distrusts a publisher. */
export const publisherInput = publisher
  .pick({ name: true })
  .extend({ state: publisherState.default('trusted') })
  .meta({ id: 'PluginPublisherInput' })
export type PublisherInput = z.infer<typeof publisherInput>

/** Which uploaded plugins an engine installs and runs. */
export const pluginTrust = z
  .strictObject({
    signatures: z.enum(['required', 'optional']).meta({
      description:
        'required: only packages of trusted publishers are installed and run. This applies if publishers are listed or engine.require_signed_plugins is set; optional: all packages are',
    }),
    publishers: z.array(publisher),
    exceptions: z.array(pluginName).meta({
      description: 'Names of plugins that need no signature of a trusted publisher',
    }),
  })
  .meta({ id: 'PluginTrust' })
export type TrustedPlugins = z.infer<typeof pluginTrust>
