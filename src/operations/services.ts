// The services of all operations and reads together: the endpoint table passes them on, and each uses its part.

import type { CoreServices } from './operation.ts'
import type { RealtimeServices } from './realtime/request.ts'
import type { ResponseServices } from './responses/operation.ts'
import type { BeginRooms } from './videos/begin.ts'
import type { VideoRooms } from './videos/read.ts'

/** Replaced as a whole when the configuration changes. */
export interface Services extends CoreServices {
  readonly responses: ResponseServices
  readonly realtime: RealtimeServices
  readonly videos: VideoRooms & { readonly begin: BeginRooms }
}
