import { registerHooks } from 'node:module'

/**
 * Loaded before the tests of a plugin: provides the SDK of this checkout to projects in
 * which none is installed.
 */

registerHooks({
  resolve(specifier, context, next) {
    if (!/^@eyrie\/element(\/|$)/.test(specifier)) return next(specifier, context)
    try {
      return next(specifier, context)
    } catch {
      return next(specifier, { ...context, parentURL: import.meta.url })
    }
  },
})
