import { type Environment, readEnvironment } from '@eyrie/kit'

/**
 * Reads the environment of the appliance. Without another license, it has the community license; a
 * service that is started alone has none. An empty variable counts as unset, as in all services.
 */
export const readApplianceEnvironment = (variables: NodeJS.ProcessEnv): Environment =>
  readEnvironment({ ...variables, EYRIE_LICENSE: variables.EYRIE_LICENSE || 'community' })
