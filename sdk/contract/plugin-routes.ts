import { z } from 'zod'
import { forceQuery, type Routes } from './engine-route.ts'
import { flagParameter } from './parameters.ts'
import { plugin, pluginName, pluginVersion } from './plugin.ts'
import { pluginGrant, pluginInspection } from './plugin-grant.ts'
import { publisherKey } from './plugin-signature.ts'
import { pluginTrust, publisherInput } from './plugin-trust.ts'
import {
  pluginSwitch,
  shadowAcceptance,
  shadowInput,
  shadowReport,
  versionSwitch,
} from './plugin-upgrade.ts'

const byName = z.object({ name: pluginName })
const byKey = z.object({ key: publisherKey })

/**
 * `new-publisher`: whether the package may be signed by another publisher than the installed
 * versions of the plugin.
 */
const uploadQuery = z.object({ 'new-publisher': flagParameter })

/** A binary request body. */
const binary = z.instanceof(Uint8Array).meta({ type: 'string', format: 'binary' })

/** The routes of v3 about plugins and their publishers. */
export const pluginRoutes = {
  plugin: {
    list: {
      method: 'get',
      path: '/plugins',
      summary: 'List plugins and their versions',
      status: 200,
      response: z.array(plugin),
      errors: [],
    },

    get: {
      method: 'get',
      path: '/plugins/{name}',
      summary: 'Get a plugin',
      params: byName,
      status: 200,
      response: plugin,
      errors: ['id'],
    },

    upload: {
      method: 'post',
      path: '/plugins',
      summary: 'Upload a plugin package',
      scope: 'plugins',
      query: uploadQuery,
      body: binary,
      contentType: 'application/gzip',
      status: 201,
      unchangedStatus: 200,
      response: plugin,
      errors: ['syntax', 'rights', 'signature', 'reference', 'conflict', 'precondition'],
    },

    use: {
      method: 'put',
      path: '/plugins/{name}',
      summary: 'Select the active version of a plugin',
      scope: 'plugins',
      params: byName,
      body: pluginSwitch,
      status: 200,
      response: plugin,
      errors: [
        'syntax',
        'rights',
        'signature',
        'id',
        'reference',
        'conflict',
        'grant',
        'precondition',
      ],
    },

    inspect: {
      method: 'post',
      path: '/plugins/inspection',
      summary: 'Show what a plugin package asks for, without installing it or running its code',
      scope: 'plugins',
      body: binary,
      contentType: 'application/gzip',
      status: 200,
      response: pluginInspection,
      errors: ['syntax', 'rights', 'signature'],
    },

    grants: {
      method: 'get',
      path: '/plugins/{name}/grants',
      summary: 'List what was granted to a plugin',
      params: byName,
      status: 200,
      response: z.array(pluginGrant),
      errors: ['id'],
    },

    switches: {
      method: 'get',
      path: '/plugins/{name}/switches',
      summary:
        'List the switches of the active version of a plugin, by clients and by the engine itself',
      params: byName,
      status: 200,
      response: z.array(versionSwitch),
      errors: ['id'],
    },

    startShadow: {
      method: 'put',
      path: '/plugins/{name}/shadow',
      summary:
        'Run a version of a plugin in shadow: on the same frames as the active one, without any effect',
      scope: 'plugins',
      params: byName,
      body: shadowInput,
      status: 200,
      response: shadowReport,
      errors: ['syntax', 'rights', 'signature', 'id', 'reference', 'conflict', 'grant'],
    },

    getShadow: {
      method: 'get',
      path: '/plugins/{name}/shadow',
      summary: 'Compare the version in shadow with the active one',
      params: byName,
      status: 200,
      response: shadowReport,
      errors: ['id'],
    },

    endShadow: {
      method: 'delete',
      path: '/plugins/{name}/shadow',
      summary: 'End a run in shadow',
      scope: 'plugins',
      params: byName,
      status: 200,
      response: shadowReport,
      errors: ['rights', 'id'],
    },

    acceptShadow: {
      method: 'post',
      path: '/plugins/{name}/shadow/acceptance',
      summary: 'End a run in shadow, and select its version as the active one',
      scope: 'plugins',
      params: byName,
      body: shadowAcceptance,
      status: 200,
      response: plugin,
      errors: ['syntax', 'rights', 'signature', 'id', 'reference', 'conflict', 'grant'],
    },

    release: {
      method: 'delete',
      path: '/plugins/{name}/quarantine',
      summary: 'Release a plugin from quarantine',
      scope: 'plugins',
      params: byName,
      status: 200,
      response: plugin,
      errors: ['rights', 'id', 'precondition'],
    },

    remove: {
      method: 'delete',
      path: '/plugins/{name}/{version}',
      summary: 'Delete an uploaded plugin version',
      scope: 'plugins',
      params: byName.extend({ version: pluginVersion }),
      status: 204,
      response: null,
      errors: ['rights', 'id', 'reference', 'conflict', 'precondition'],
    },
  },

  pluginTrust: {
    get: {
      method: 'get',
      path: '/plugin-trust',
      summary: 'Get the publishers whose plugins are trusted, and the exceptions',
      status: 200,
      response: pluginTrust,
      errors: [],
    },

    setPublisher: {
      method: 'put',
      path: '/plugin-trust/publishers/{key}',
      summary: 'Trust or distrust a publisher of plugins',
      scope: 'plugins',
      params: byKey,
      query: forceQuery,
      body: publisherInput,
      status: 200,
      response: pluginTrust,
      errors: ['syntax', 'rights', 'id', 'reference', 'precondition'],
    },

    removePublisher: {
      method: 'delete',
      path: '/plugin-trust/publishers/{key}',
      summary: 'Delete the record of a publisher, who is unknown then',
      scope: 'plugins',
      params: byKey,
      status: 200,
      response: pluginTrust,
      errors: ['rights', 'id', 'precondition'],
    },

    addException: {
      method: 'put',
      path: '/plugin-trust/exceptions/{name}',
      summary: 'Accept a plugin without the signature of a trusted publisher',
      scope: 'plugins',
      params: byName,
      status: 200,
      response: pluginTrust,
      errors: ['rights', 'id', 'precondition'],
    },

    removeException: {
      method: 'delete',
      path: '/plugin-trust/exceptions/{name}',
      summary: 'Require a signature of a plugin again',
      scope: 'plugins',
      params: byName,
      status: 200,
      response: pluginTrust,
      errors: ['rights', 'id', 'precondition'],
    },
  },
} as const satisfies Routes
