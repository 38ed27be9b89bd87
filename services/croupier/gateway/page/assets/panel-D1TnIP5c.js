import{C as e,D as t,E as n,G as r,J as i,K as a,O as o,Q as s,S as c,T as l,V as u,Y as d,Z as f,c as p,d as m,h,l as g,q as _,u as v,v as y,w as b}from"./index-2l2dqGlJ.js";import{n as x}from"./seat-CQjS4C4u.js";function S({address:e,game:t,seatCount:n,options:r,bots:i,actions:a}){let o=e.protocol===`https:`,s=e.port||(o?`443`:`80`),c=o?`, Tls(AUTHORITY.read_bytes())`:``;return`"""Plays a table as it was recorded in a browser.

The cards are dealt anew, so another seat may be to act, and an action may not be legal: then a legal one takes its
place, of the same verb if there is one.
"""

import secrets
from contextlib import ExitStack
from pathlib import Path
from random import Random

from google.protobuf.json_format import ParseDict

from croupier_api.v1.actions_pb2 import Action
from croupier_client import BlockingClient, BlockingTable, Endpoints, Tls, choose_random_action

# Where \`croupier up\` runs; with --tls the authority is in its data folder.
AUTHORITY = Path.home() / ".local/share/croupier/keys/gateway.authority.pem"


def endpoints() -> Endpoints:
    return Endpoints.single(${C(`${e.hostname}:${s}`)}${c})


GAME = ${C(t)}
SEATS = ${n}
BOTS = ${C(i)}
OPTIONS = ${C(r)}
ACTIONS = [
${a.map(({seat:e,action:t})=>`    (${e}, ${C(t)}),\n`).join(``)}]
WAIT_SECONDS = 30.0


def test_the_recorded_table() -> None:
    with ExitStack() as stack:
        players = [
            stack.enter_context(BlockingClient(endpoints(), secrets.token_urlsafe(), f"Player {number}"))
            for number in range(1, SEATS - len(BOTS) + 1)
        ]
        host, *guests = players
        table = host.create_table(game=GAME, seat_count=SEATS, options=OPTIONS, bots=BOTS).table
        for guest in guests:
            guest.join_table(invite_code=table.invite_code)
        for player in players:
            player.set_ready(table_id=table.table_id)
        seats = [0, *range(1 + len(BOTS), SEATS)]
        tables = {
            seat: stack.enter_context(player.play_table(table.table_id))
            for seat, player in zip(seats, players, strict=True)
        }
        sequence = 0
        for seat, recorded in ACTIONS:
            to_act = wait_for_seats(tables, sequence)
            if not to_act:
                break
            acting = tables[seat if seat in to_act else to_act[0]]
            assert acting.wait_for_turn(timeout_seconds=WAIT_SECONDS)
            sequence = acting.submit_action(choose(acting, ParseDict(recorded, Action())))
        for each in tables.values():
            while each.sequence < sequence:
                each.wait_for_change(timeout_seconds=WAIT_SECONDS)


def wait_for_seats(tables: dict[int, BlockingTable], sequence: int) -> list[int]:
    """Return the players' seats that are to act after an entry of the table; none once the game is over."""
    watched = tables[0]
    while True:
        seen = watched.sequence
        to_act = [seat for seat in watched.view.seats_to_act if seat in tables]
        if watched.is_finished or (seen >= sequence and to_act):
            return to_act
        watched.wait_for_change(after=seen, timeout_seconds=WAIT_SECONDS)


def choose(table: BlockingTable, recorded: Action) -> Action:
    """Return the recorded action if it is listed as legal, else a legal one, of the same verb if there is one."""
    legal = [*table.legal_actions.actions, *(choose_random_action(table, Random(seed)) for seed in range(20))]
    alike = [action for action in legal if action.WhichOneof("verb") == recorded.WhichOneof("verb")]
    return recorded if recorded in legal else (alike or legal)[0]
`}function C(e){return e===null?`None`:typeof e==`boolean`?e?`True`:`False`:typeof e==`object`?e instanceof Array?`[${e.map(C).join(`, `)}]`:`{${Object.entries(e).map(([e,t])=>`${C(e)}: ${C(t)}`).join(`, `)}}`:JSON.stringify(e)}function w({label:e,placeholder:t,write:n}){let r=_(null),[i,a]=d(!1);return y(f,{children:[y(`button`,{type:`button`,onClick:()=>{r.current!==null&&(r.current.value=n(),r.current.select(),a(document.execCommand(`copy`)))},children:e}),y(`textarea`,{ref:r,readOnly:!0,rows:3,placeholder:t,spellcheck:!1}),i&&y(`p`,{role:`status`,children:`Copied`})]})}var T=36e5;async function E(e,n){let r=[];for(let i=1;i<=n;i+=1)r.push(await t(e,{name:`Seat ${i}`,store:x(i),language:`en`}));return r}function D([e]){if(e===void 0)throw Error(`no players`);return e}async function O(t,r,i){let a=Math.max(r.minSeats,Math.min(t.length,r.maxSeats)),s=t.slice(0,a),c=D(s),l={actionTime:u(T),botDelay:u(500)},d=await n(c,{game:r.game,seats:a,bots:a-s.length,options:i,timeControl:l}),{inviteCode:f}=await e(c,{tableId:d});for(let e of s.slice(1))await b(e,{inviteCode:f});for(let e of s)await e.lobby.setReady({tableId:d},o(d));return e(c,{tableId:d})}function k({games:e,deal:t}){let[n,r]=d(e[0]?.game),[i,a]=d({}),o=e.find(e=>e.game===n);if(o===void 0)return null;let s=e=>{r(e),a({})};return y(`form`,{onSubmit:e=>{e.preventDefault(),t(o,i)},children:[y(`div`,{class:`dev-row`,children:[y(`select`,{"aria-label":`Game`,value:n,onChange:({currentTarget:e})=>s(e.value),children:e.map(e=>y(`option`,{value:e.game,children:e.name},e.game))}),y(`button`,{type:`submit`,children:`New table`})]}),o.options.length>0&&y(`details`,{children:[y(`summary`,{children:`Options`}),y(v,{game:o,words:new c(o,`en`),options:i,change:a})]})]})}var A=500,j=5e3,M=class{changed;entries=new Map;taken=new Map;count=0;constructor(e){this.changed=e}get actions(){return[...this.taken].sort(([e],[t])=>e-t).map(([,e])=>e)}clear(){this.entries.clear(),this.taken.clear()}of(e){return this.entries.get(e)??[]}message(e,{isSent:t,json:n}){let r=`${t?`→`:`←`} ${N(n)}`,i={number:this.count+=1,time:new Date,title:r,text:JSON.stringify(n,null,2)};this.entries.set(e,[i,...this.of(e)].slice(0,A)),this.changed()}action(e,{sequence:t,action:n}){this.taken.size<j&&this.taken.set(t,{page:e,action:n}),this.changed()}};function N(e){if(typeof e!=`object`||!e||Array.isArray(e))return``;let{tableEvent:t,...n}=e;return[t??{},n].flatMap(e=>Object.keys(e)).join(`, `)}var P={isCut:!1,delayMilliseconds:0},F=class{recording=new M(()=>this.changed());lines=new Map;switches=new Map;changed=()=>{};subscribe(e){return this.changed=e,()=>void(this.changed=()=>{})}attach(e,t){t.set(this.of(e)),this.lines.set(e,t)}recorder(e){return{message:t=>this.recording.message(e,t),action:t=>this.recording.action(e,t)}}of(e){return this.switches.get(e)??P}set(e,t){let n={...this.of(e),...t};this.switches.set(e,n),this.lines.get(e)?.set(n),this.changed()}},I=360,L=[[0,`no delay`],[300,`300 ms`],[2e3,`2 s`]];function R({page:e,tableId:t,lines:n}){let r=_(null),{isCut:i,delayMilliseconds:a}=n.of(e);return z(r),y(`section`,{class:`dev-seat`,"aria-label":`Seat ${e}`,"data-cut":i,children:[y(`header`,{children:[y(`b`,{children:e}),y(`button`,{type:`button`,"aria-pressed":i,onClick:()=>n.set(e,{isCut:!i}),children:i?`Heal`:`Cut`}),y(`select`,{"aria-label":`Delay in each direction`,value:a,onChange:({currentTarget:t})=>n.set(e,{delayMilliseconds:Number(t.value)}),children:L.map(([e,t])=>y(`option`,{value:e,children:t},e))}),y(`button`,{type:`button`,onClick:()=>r.current?.contentWindow?.location.reload(),children:`Kill`})]}),y(`div`,{class:`dev-page`,children:y(`iframe`,{ref:r,title:`The page of seat ${e}`,src:`./?seat=${e}${p({screen:`table`,id:t,link:``})}`})})]})}function z(e){a(()=>{let t=e.current?.parentElement;if(!t)return;let n=new ResizeObserver(()=>e.current?.style.setProperty(`--scale`,`${Math.min(1,t.clientWidth/I)}`));return n.observe(t),()=>n.disconnect()},[])}function B({pages:e,shown:t,show:n,entries:r}){return y(f,{children:[y(`div`,{class:`dev-row`,role:`group`,"aria-label":`The stream of seat`,children:e.map(e=>y(`button`,{type:`button`,"aria-pressed":e===t,onClick:()=>n(e),children:e},e))}),y(`ol`,{class:`dev-stream`,children:r.map(({number:e,time:t,title:n,text:r})=>y(`li`,{children:y(`details`,{children:[y(`summary`,{children:[y(`time`,{children:t.toLocaleTimeString(`en-GB`)}),` `,n]}),y(`pre`,{children:r})]})},e))})]})}var V=2,H=8;function U(e,t){let n=Math.max(V,Math.min(t,H)),r=new F;window.croupierPanel=r,s(y(W,{count:n,lines:r}),e)}function W({count:e,lines:t}){let{entered:n,table:a,fault:o,deal:s}=G(e,t),[c,l]=d(1),[,u]=i(e=>e+1,0);r(()=>t.subscribe(()=>u()),[t]);let f=Array.from({length:e},(e,t)=>t+1),{recording:p}=t;return y(`div`,{class:`dev`,children:[y(`div`,{class:`dev-seats`,"data-columns":Math.min(e,4),children:n&&a&&f.filter(e=>J(n,a,e)>=0).map(e=>y(R,{page:e,tableId:a.tableId,lines:t},`${a.tableId} ${e}`))}),y(`aside`,{class:`dev-panel`,children:[n?y(k,{games:n.games,deal:s}):y(`p`,{role:`status`,children:`Signing in…`}),o!==``&&y(`p`,{role:`alert`,class:`fault`,children:o}),n&&a&&y(w,{label:`Copy as test (${p.actions.length} actions)`,placeholder:`A test in Python, of the actions so far`,write:()=>Y(n,a,p)},a.tableId),y(B,{pages:f,shown:c,show:l,entries:p.of(c)})]})]})}function G(e,{recording:t}){let[n,i]=d(),[a,o]=d(),[s,c]=d(``),l=e=>c(h(e,void 0,m(`en`))),u=e=>{e!==void 0&&(t.clear(),history.replaceState(null,``,p({screen:`table`,id:e.tableId,link:``})),c(``),o(e))};return r(()=>{K(e).then(e=>(i(e),q(e))).then(u).catch(l)},[e]),{entered:n,table:a,fault:s,deal:(e,t)=>n&&void O(n.connections,e,t).then(u,l)}}async function K(e){let t=await E(location.origin,e),{games:n}=await l(D(t),e);return{connections:t,games:n}}async function q({connections:t,games:n}){let r=g(location.hash);if(r.screen===`table`)return e(D(t),{tableId:r.id});let i=r.screen===`new`?n.find(e=>e.game===r.game):void 0;return i&&O(t,i,{})}function J({connections:e},{seats:t},n){return t.findIndex(({playerId:t})=>t===e[n-1]?.session.player.playerId)}function Y(e,t,n){let{game:r,options:i={},seats:a}=t,o=n.actions.map(({page:n,action:r})=>({seat:J(e,t,n),action:r})),s=a.flatMap(({bot:e})=>e===``?[]:[e]);return S({address:new URL(location.origin),game:r,seatCount:a.length,options:i,bots:s,actions:o})}export{U as showPanel};