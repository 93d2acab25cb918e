// The section of the file on the server: where it listens, and its limits for requests and connections.

import { z } from 'zod'
import {
  isAddressRange,
  isHttpUrl,
  isOrigin,
  portRange,
  withoutTrailingSlash,
  workersRange,
} from './rules.ts'
import {
  bytes,
  checkedText,
  choice,
  count,
  dayMs,
  key,
  milliseconds,
  secretText,
  section,
  text,
  wholeNumber,
  yesOrNo,
} from './schema-parts.ts'

export const server = section({
  host: key(
    text(),
    'Address to listen on; 0.0.0.0 or :: for all addresses of the machine.',
    '127.0.0.1',
  ),
  port: key(
    wholeNumber(portRange.min, portRange.max),
    'Port to listen on; 0: the system chooses a free one.',
    8_787,
  ),
  workers: key(
    wholeNumber(workersRange.min, workersRange.max),
    'Number of serving processes on this machine; more than one needs Linux.',
    1,
  ),
  console: key(
    yesOrNo,
    'Whether the web console is served at / and is built at the start if its sources have changed; false: / is a plain page.',
    true,
  ),
  publicUrl: key(
    checkedText('expected an http or https address', isHttpUrl).transform(withoutTrailingSlash),
    'Public http or https address of this server, for browsers and callbacks; `publicUrl` takes precedence.',
  ),
  maxBodyBytes: key(
    bytes,
    'Largest request body in bytes, except forms; a larger one gets 413.',
    64 * 1024 * 1024,
  ),
  maxHeaderBytes: key(
    bytes,
    "Largest total size of a request's headers in bytes; more gets 431.",
    16 * 1024,
  ),
  maxInFlight: key(
    count,
    'Most concurrent requests in each serving process; further ones get 503 before their body is read.',
    10_000,
  ),
  maxBufferedBytes: key(
    bytes,
    'Most bytes of request bodies in memory at once in each serving process; a request that needs more gets 503.',
    256 * 1024 * 1024,
  ),
  heartbeatMs: key(
    milliseconds,
    'Time without data after which a stream gets a comment or ping, so that proxies do not close it.',
    15_000,
  ),
  commitAfterMs: key(
    milliseconds,
    'Time after which a stream that the vendor accepted but has not begun is opened to the client with a heartbeat; from then on no other channel can serve the request.',
    15_000,
  ),
  writeStallMs: key(
    milliseconds,
    'Time after which a client that reads nothing of its reply is disconnected.',
    60_000,
  ),
  bodyTimeoutMs: key(
    milliseconds,
    'Longest time for a request body to arrive, or for each further 64 KiB of a form; after it the request gets 408.',
    60_000,
  ),
  drainDelayMs: key(
    wholeNumber(0, dayMs),
    'Time after SIGTERM in which requests are still served while /readyz replies 503, so that load balancers stop sending first; left out: 5000 if readiness was checked within the last minute and neither a terminal nor npm start started the server, else 0.',
  ),
  drainMs: key(
    milliseconds,
    'Time that running requests then have to finish; after it they are ended.',
    300_000,
  ),
  metricsToken: key(
    secretText(),
    'Bearer token for reading /metrics from other machines; left out: only this machine may read them.',
  ),
  healthPort: key(
    wholeNumber(1, portRange.max),
    'Additional port for /healthz, /readyz and /metrics: worker N (from 0) answers on this port + N.',
  ),
  corsOrigins: key(
    z.array(
      checkedText('expected * or an origin such as https://app.example, without a path', isOrigin),
      'expected a list of origins',
    ),
    'Origins whose pages may call the API from a browser (CORS); ["*"]: all.',
    ['*'],
  ),
  trustedProxies: key(
    z.array(
      checkedText('expected an IP address, or a range such as 10.0.0.0/8', isAddressRange),
      'expected a list of addresses',
    ),
    "Proxies whose `forwardedHeader` is trusted for the client's address: IP addresses, or ranges such as 10.0.0.0/8.",
    [],
  ),
  forwardedHeader: key(
    choice(['x-forwarded-for', 'forwarded']),
    "Header in which trusted proxies give the client's address; choose only one that all of them set themselves, or clients can forge it.",
    'x-forwarded-for',
  ),
}).refine(
  ({ port, healthPort, workers }) =>
    healthPort === null || port < healthPort || port >= healthPort + workers,
  { path: ['healthPort'], error: 'expected another port than that of the server' },
)
